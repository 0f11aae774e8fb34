"""The tools of an author: one module a subcommand of `evalkit`."""
