"""`evalkit`: writes and inspects cases. (`doit` runs them.)

Each subcommand is a module of evalkit/authoring, imported only when it is called: `arguments(parser)` says what it
takes, `main(options)` does it and returns the exit status.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from evalkit import __version__
from evalkit.diagnostics.streams import OutputLost, drop_output, settle_streams
from evalkit.errors import EvalkitError, Exit, HarnessError, UserError

__all__ = ["main"]


class _CommandParser(argparse.ArgumentParser):
    """The parser of a command: its last list of words may go on after an option, and what it does not know is told
    with its own usage, not with that of `evalkit`.
    """

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse does, but nothing unknown is left."""
        found, unknown = super().parse_known_args(args, namespace)
        words = [action.dest for action in self._actions if action.nargs == "*" and not action.option_strings]
        if unknown and words and not [word for word in unknown if word.startswith("-")]:
            setattr(found, words[-1], [*getattr(found, words[-1]), *unknown])
        elif unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return found, []


COMMANDS = {
    "check": ("check", "find what is wrong in cases, without running anything"),
    "fmt": ("fmt", "write case files in their canonical form"),
    "show": ("show", "print a compiled case, every value with where it comes from"),
    "why": ("why", "why a task would run, or not: which input changed"),
    "plan": ("plan", "what would run, and what it is expected to cost"),
    "explain": ("explain", "what an error or a warning means, with an example"),
    "choices": ("choices", "the choices of a run, what they are set to and where"),
    "init": ("init", "start a project of your own"),
    "new": ("new", "start a case, from a commented file"),
    "list": ("list", "the cases of a project, or a suite's catalogue in Markdown"),
    "import": ("import_", "convert cases of another system"),
    "report": ("report", "a past run again: its table and figures with intervals, its reports and report.html"),
    "arms": ("arms", "a run's arms side by side, and what parts of the guidance are worth"),
    "upload": ("upload", "a run's trials as an experiment at Braintrust"),
    "compare": ("compare", "two runs, subjects or arms, paired by case: what differs, how surely, and why"),
    "history": ("history", "what a case came to in all runs"),
    "metrics": ("metrics", "how agents did their work: first pass, retries, violations, off their transcripts"),
    "transcript": ("transcript", "what an agent did: its transcript as a conversation"),
    "doctor": ("doctor", "what works on this machine, and the line to type where something does not"),
    "store": ("store", "the store of outcomes: list, clear, verify, export, import"),
    "gateway": ("gateway", "a model on loopback: play a script or a cassette, record one"),
}
"""Name -> (module of evalkit.authoring, what it does)."""


def main(argv: Sequence[str] | None = None) -> int:
    """The console script. Returns the exit status."""
    settle_streams()
    try:
        try:
            return _call(list(sys.argv[1:] if argv is None else argv))
        finally:
            sys.stdout.flush()
    except EvalkitError as error:
        _show(error)
        return int(error.exit_status)
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except OutputLost as error:
        drop_output()
        if error.unread:
            return Exit.OK
        _show(HarnessError(f"the output cannot be written: {error.strerror}"))
        return Exit.HARNESS


def _call(arguments: Sequence[str]) -> int:
    """Do what the command line says. Raises whatever keeps the command from it, and SystemExit for a bad line."""
    parser = _parser(arguments[0] if arguments else "")
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help()
        return Exit.OK
    try:
        return int(import_module(f"evalkit.authoring.{COMMANDS[options.command][0]}").main(options))
    except (FileNotFoundError, EvalkitError):
        if _is_here():
            raise
        raise UserError("the current folder is not there any more", hint="change to one that is: cd ..") from None


def _show(error: EvalkitError) -> None:
    from evalkit.diagnostics.show import show_error  # it imports what draws
    from evalkit.execute.secrets import Redactor
    from evalkit.plan.choices import secret_names

    named: tuple[str, ...] = ()
    with contextlib.suppress(UserError):
        named = secret_names(Path())
    show_error(Redactor.of(os.environ, named).error(error))


def _is_here() -> bool:
    try:
        return bool(os.getcwd())  # noqa: PTH109 - it is only asked for
    except FileNotFoundError:
        return False


def _parser(called: str) -> argparse.ArgumentParser:
    """The parser of all commands. Only the called one's arguments are known, so that only its module is imported."""
    parser = argparse.ArgumentParser(
        prog="evalkit", formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Writes and inspects cases. `doit` runs them: doit run case:NAME",
        epilog="examples:\n  evalkit check                what is wrong in the cases\n"
               "  evalkit new case my-case     start a case\n  evalkit COMMAND --help       more of one command")
    parser.add_argument("--version", action="version", version=f"evalkit {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_CommandParser)
    for name, (module, about) in COMMANDS.items():
        command = commands.add_parser(name, help=about, description=about[0].upper() + about[1:] + ".",
                                      formatter_class=argparse.RawDescriptionHelpFormatter)
        if name == called:
            import_module(f"evalkit.authoring.{module}").arguments(command)
    return parser


if __name__ == "__main__":
    sys.exit(main())
