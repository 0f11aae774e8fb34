"""`evalkit gateway`: a server on loopback that plays a scripted model or a recording, that records, or that passes on.
"""

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
from typing import TYPE_CHECKING

from evalkit.authoring.columns import count
from evalkit.errors import Exit, UserError
from evalkit.gateway.server import Address, App, Server

if TYPE_CHECKING:
    from evalkit.execute.outcome import Usage

__all__ = ["ABOUT", "arguments", "main", "serve", "stopped_by_signal"]

ABOUT = "a model on loopback: play a script or a cassette, record one, or hold the key of a provider"
_EPILOG = """\
examples:
  evalkit gateway play hello.yaml                        a scripted model, on a free port
  evalkit gateway play hello.yaml --port 8080
  evalkit gateway play cassette.jsonl --socket m.sock    a recording, on a Unix socket
  evalkit gateway record https://ai-gateway.vercel.sh cassette.jsonl
  evalkit gateway serve                                  the provider itself, for programs without its key

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
_SERVE = """\
examples:
  export AI_GATEWAY_API_KEY=…
  evalkit gateway serve
  evalkit gateway serve --cost 2.50 --socket models.sock

What `doit run` puts between agents and their provider, by itself: programs get a token that is good while it runs, the
gateway puts the key in its place, asks again what passes by itself, counts, and refuses what comes after a limit. What
went through is told in the end. Exit status: 0, or 3 where the last request failed.
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
    live = mode("serve", "pass requests on to the provider whose key is set, and count", _SERVE)
    live.add_argument("--upstream", metavar="URL", help="another address of the provider, without /v1")
    live.add_argument("--cost", type=_positive, metavar="DOLLARS", help="serve no request after so much was spent")
    live.add_argument("--tokens", type=int, metavar="N", help="serve no request after so many tokens")


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
    from evalkit.authoring.project import project_of
    from evalkit.gateway.cassette import CassetteWriter
    from evalkit.gateway.record import Recorder, has_a_key
    from evalkit.plan.choices import secret_names

    if not options.url.startswith(("http://", "https://")):
        raise UserError(f"{options.url} is no address", hint="as in https://ai-gateway.vercel.sh")
    has_a_key(os.environ)
    root = project_of(Path.cwd())
    secret = secret_names(root) if root is not None else ()
    writer = CassetteWriter(options.file)
    recorder = Recorder(options.url, writer, os.environ, secret=secret)
    try:
        errors = serve(recorder, options, f"recording {options.url} into {options.file}")
    finally:
        recorder.close()
    for said in recorder.troubles():
        _say(f"not recorded: {said}")
    _say(f"{count(writer.written, 'exchange')} recorded" + (f" in {options.file}" if writer.written
                                                           else ": nothing is written"))
    return Exit.HARNESS if errors or recorder.troubles() else Exit.OK


def _serve(options: argparse.Namespace) -> int:
    from evalkit.analysis.model import Limits
    from evalkit.execute.asking import Models
    from evalkit.execute.models.prices import Prices, read_prices
    from evalkit.execute.models.provider import Endpoints, missing_key
    from evalkit.gateway.live import LiveGateway
    from evalkit.plan.choices import project_table

    endpoints = Models(Endpoints(os.environ, options.upstream)).endpoints(None, None)
    if not endpoints:
        raise missing_key("evalkit gateway serve")
    errors: list[BaseException] = []
    prices = Prices(read_prices(project_table(Path.cwd(), "prices")))
    with stopped_by_signal() as stopped, LiveGateway(prices, port=options.port, socket_path=options.socket,
                                                     on_error=errors.append) as gateway:
        lease = gateway.open("gateway", endpoints, model="", say=_say,
                             limits=Limits(cost=options.cost, tokens=options.tokens))
        for line in _greeting(gateway.address, f"passing on to {endpoints[0].shown}", lease.token):
            print(line)
        sys.stdout.flush()
        stopped.wait()
        traffic = lease.close()
    for error in errors:
        _say(f"error: {error or type(error).__name__}")
    for model, replies in sorted(traffic.models.items()):
        _say(f"{model}: {count(replies, 'reply', 'replies')}")
    for note in (*traffic.notes(), *([f"reached its {traffic.over}"] if traffic.over else [])):
        _say(note)
    _say(_told(traffic.usage))
    if traffic.failure is not None:
        _say(f"the last request failed: {traffic.failure}")
    return Exit.HARNESS if errors or traffic.failure is not None else Exit.OK


def _told(usage: Usage) -> str:
    """A total in a line: `12 replies: 10300 tokens in, 8000 from a cache, 400 out, $0.12 (price list)`."""
    cost = "cost not known" if usage.cost is None else f"${usage.cost:.4f}"
    return (f"{usage.turns} in all: {usage.input_tokens or 0} tokens in, {usage.cache_read_tokens or 0} from a cache, "
            f"{usage.cache_write_tokens or 0} into one, {usage.output_tokens or 0} out; {cost}"
            + (f" ({usage.cost_source})" if usage.cost_source else ""))


def _positive(text: str) -> float:
    value = float(text)
    if not 0 < value < 1_000_000:
        raise argparse.ArgumentTypeError("more than nothing, in dollars")
    return value


_MODES: dict[str, Callable[[argparse.Namespace], int]] = {"play": _play, "record": _record, "serve": _serve}


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
        for line in _greeting(server.address, what):
            print(line)
        sys.stdout.flush()
        stopped.wait()
    return errors


@contextmanager
def stopped_by_signal() -> Iterator[threading.Event]:
    """An event that SIGINT, SIGTERM and a closed terminal set while this holds; a second signal ends the process as it
    always does. What is ignored (`nohup`) stays so.
    """
    stopped = threading.Event()
    before: dict[signal.Signals, Callable[[int, FrameType | None], object] | int | None] = {}

    def stop(number: int, frame: FrameType | None) -> None:
        stopped.set()
        for each, handler in before.items():
            signal.signal(each, handler)

    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(each) is not signal.SIG_IGN:
            before[each] = signal.signal(each, stop)
    try:
        yield stopped
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _greeting(address: Address, what: str, key: str = _DUMMY) -> list[str]:
    """The lines that point programs there. key: what they hold in a key's place."""
    if address.socket is not None:
        held = [] if key == _DUMMY else [f"# the key to show there: {key}"]
        return [f"# {what} on the socket {address.socket}; Ctrl-C ends it", *held]
    url = address.url
    return [
        f"# {what} on {url}; Ctrl-C ends it",
        f"export ANTHROPIC_BASE_URL={url} ANTHROPIC_AUTH_TOKEN={key} ANTHROPIC_API_KEY=",
        f"export OPENAI_BASE_URL={url}/v1 OPENAI_API_KEY={key}",
        f"export GOOGLE_GEMINI_BASE_URL={url} GEMINI_API_KEY={key}",
    ]


def _say(line: str) -> None:
    sys.stderr.write(line + "\n")
