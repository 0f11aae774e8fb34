"""Trials -> outcomes: toolchains, templates, workspaces, agents. Everything that starts a process is below here."""
