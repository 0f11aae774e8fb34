"""`evalkit gateway`: a server on loopback that plays a scripted model or a recording, or that records."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from evalkit.authoring.columns import count
from evalkit.errors import Exit, UserError
from evalkit.gateway.server import App, Server

__all__ = ["ABOUT", "arguments", "main", "serve", "stopped_by_signal"]

ABOUT = "a model on loopback: play a script or a cassette, record one"
_EPILOG = """\
examples:
  evalkit gateway play hello.yaml                        a scripted model, on a free port
  evalkit gateway play hello.yaml --port 8080
  evalkit gateway play cassette.jsonl --socket m.sock    a recording, on a Unix socket
  evalkit gateway record https://ai-gateway.vercel.sh cassette.jsonl

The lines that point programs there are printed first. Ctrl-C ends it. Scripts and cassettes: docs/gateway.md
"""
_PLAY = """\
examples:
  evalkit gateway play hello.yaml
  evalkit gateway play cassette.jsonl --exact
  evalkit gateway play hello.yaml --check     whether the script is right, without serving

It ends on Ctrl-C or SIGTERM and then says what was asked that the file has no answer to. Exit status: 0, or 1 where
there was such a request; 2 for a script that is wrong.
"""
_RECORD = """\
examples:
  export AI_GATEWAY_API_KEY=…
  evalkit gateway record https://ai-gateway.vercel.sh cassette.jsonl
  evalkit gateway play cassette.jsonl

The gateway adds the key that the environment has for the model; programs need none. No key, cookie or account gets into
the cassette. It ends on Ctrl-C or SIGTERM, and the cassette gets its name then. Exit status: 0; 3 where something could
not be recorded.
"""
_DUMMY = "no-key-needed"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    modes = parser.add_subparsers(dest="mode", metavar="MODE", required=True)

    def mode(name: str, about: str, epilog: str) -> argparse.ArgumentParser:
        made = modes.add_parser(name, help=about, description=about[0].upper() + about[1:] + ".", epilog=epilog,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
        where = made.add_mutually_exclusive_group()
        where.add_argument("--port", type=int, default=0, help="the port of 127.0.0.1 to listen on; else a free one")
        where.add_argument("--socket", type=Path, metavar="PATH", help="a Unix socket to listen on, instead of a port")
        return made

    play = mode("play", "serve a scripted model, or a recording", _PLAY)
    play.add_argument("file", metavar="FILE", type=Path, help="a script (YAML) or a cassette")
    play.add_argument("--exact", action="store_true",
                      help="of a cassette: refuse a request in which a tool returned something else than recorded")
    play.add_argument("--check", action="store_true", help="read the file, and end")
    record = mode("record", "pass requests on to a provider, and keep what it answers", _RECORD)
    record.add_argument("url", metavar="URL", help="the provider's address, without /v1")
    record.add_argument("file", metavar="FILE", type=Path, help="the cassette to write; it must not be there yet")


def main(options: argparse.Namespace) -> int:
    """Serve until a signal comes. Exit statuses: see the help of the modes."""
    return _MODES[options.mode](options)


def _play(options: argparse.Namespace) -> int:
    from evalkit.gateway.play import open_play

    player = open_play(options.file, exact=options.exact)
    if options.check:
        print(f"{options.file} is right")
        return Exit.OK
    errors = serve(player, options, f"playing {options.file}")
    unknown = player.unknown()
    for note in player.notes():
        _say(f"note: {note}")
    for said in unknown:
        _say(f"no answer: {said}")
    _say(count(player.answered, "request") + " answered" + (f", {len(unknown)} not" if unknown else ""))
    return Exit.HARNESS if errors else Exit.CASE_FAILED if unknown else Exit.OK


def _record(options: argparse.Namespace) -> int:
    from evalkit.gateway.cassette import CassetteWriter
    from evalkit.gateway.record import Recorder, has_a_key

    if not options.url.startswith(("http://", "https://")):
        raise UserError(f"{options.url} is no address", hint="as in https://ai-gateway.vercel.sh")
    has_a_key(os.environ)
    writer = CassetteWriter(options.file)
    recorder = Recorder(options.url, writer, os.environ)
    try:
        errors = serve(recorder, options, f"recording {options.url} into {options.file}")
    finally:
        recorder.close()
    for said in recorder.troubles():
        _say(f"not recorded: {said}")
    _say(f"{count(writer.written, 'exchange')} recorded" + (f" in {options.file}" if writer.written
                                                           else ": nothing is written"))
    return Exit.HARNESS if errors or recorder.troubles() else Exit.OK


_MODES: dict[str, Callable[[argparse.Namespace], int]] = {"play": _play, "record": _record}


def serve(app: App, options: argparse.Namespace, what: str) -> list[BaseException]:
    """Serve an app where the options say, tell how it is reached, and wait for a signal. What the app raised is shown,
    and returned.
    """
    errors: list[BaseException] = []

    def note(error: BaseException) -> None:
        errors.append(error)
        _say(f"error: {error or type(error).__name__}")

    server = Server(app, port=options.port, socket_path=options.socket, on_error=note)
    with stopped_by_signal() as stopped, server:
        for line in _greeting(server, what):
            print(line)
        sys.stdout.flush()
        stopped.wait()
    return errors


@contextmanager
def stopped_by_signal() -> Iterator[threading.Event]:
    """An event that SIGINT and SIGTERM set while this holds; a second signal ends the process as it always does."""
    stopped = threading.Event()
    before: dict[signal.Signals, Callable[[int, FrameType | None], object] | int | None] = {}

    def stop(number: int, frame: FrameType | None) -> None:
        stopped.set()
        for each, handler in before.items():
            signal.signal(each, handler)

    for each in (signal.SIGINT, signal.SIGTERM):
        before[each] = signal.signal(each, stop)
    try:
        yield stopped
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _greeting(server: Server, what: str) -> list[str]:
    if server.address.socket is not None:
        return [f"# {what} on the socket {server.address.socket}; Ctrl-C ends it"]
    return [
        f"# {what} on {server.url}; Ctrl-C ends it",
        f"export ANTHROPIC_BASE_URL={server.url} ANTHROPIC_AUTH_TOKEN={_DUMMY} ANTHROPIC_API_KEY=",
        f"export OPENAI_BASE_URL={server.url}/v1 OPENAI_API_KEY={_DUMMY}",
        f"export GOOGLE_GEMINI_BASE_URL={server.url} GEMINI_API_KEY={_DUMMY}",
    ]


def _say(line: str) -> None:
    sys.stderr.write(line + "\n")
