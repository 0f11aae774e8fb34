"""The choices of a run: `name=value` on the command line, EVALKIT_* variables, [tool.evalkit] in pyproject.toml.

The command line wins over a variable, a variable over pyproject.toml. An unknown name or value is an error that lists
the known ones.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from evalkit.errors import UserError
from evalkit.plugins import AGENTS, SPOKEN_AGENTS, find_plugin, plugin_names

__all__ = ["CHOICES", "DIRECT", "RECORD", "Choice", "Choices", "models_of", "project_table", "read_choices",
           "secret_names", "split_words"]

_LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_TABLES = ("prices", "secrets")
"""What is below [tool.evalkit] and is no choice."""
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_RESERVED_RUNS = ("dry", "prove")
DIRECT, RECORD = "direct", "record:"
"""How `gateway=` says that there is to be none, and that what passes is to be kept."""


def _flag(text: str) -> bool:
    folded = text.strip().lower()
    if folded in ("1", "true", "yes", "on"):
        return True
    if folded in ("0", "false", "no", "off", ""):
        return False
    raise ValueError("1 or 0")


def _positive(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,4}", text) or not 1 <= int(text) <= 1000:
        raise ValueError("a whole number from 1 to 1000")
    return int(text)


def _count(text: str) -> int:
    if not re.fullmatch(r"[0-9]", text):
        raise ValueError("a whole number from 0 to 9")
    return int(text)


def _dollars(text: str) -> float:
    if not re.fullmatch(r"\$?[0-9]{1,6}(\.[0-9]{1,4})?", text) or float(text.lstrip("$")) <= 0:
        raise ValueError("an amount in dollars, such as 5 or 0.50")
    return float(text.lstrip("$"))


def _list(text: str) -> tuple[str, ...]:
    parts = tuple(part.strip() for part in text.split(","))
    if not all(parts) or any(char.isspace() for part in parts for char in part):
        raise ValueError("one word, or several with commas between them")
    return tuple(dict.fromkeys(parts))


def models_of(said: str, source: str = "") -> tuple[str, ...]:
    """The models of a comma list, wherever it was said (source: the variable). Raises UserError where it is none."""
    try:
        return _list(said)
    except ValueError as error:
        where = f" (from {source})" if source else ""
        raise UserError(f"`{said}`{where} names no model", hint=f"a model is {error}") from None


def _label(text: str) -> str:
    if not _LABEL.fullmatch(text) or text in _RESERVED_RUNS:
        raise ValueError("a name of letters, digits, `.`, `_` and `-`; `dry` and `prove` are evalkit's own")
    return text


def _one_of(*known: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in known:
            raise ValueError("one of " + ", ".join(known))
        return text

    return read


def _agent(text: str) -> str:
    kind, colon, argument = text.partition(":")
    if colon:
        if kind in {name.partition(":")[0] for name in SPOKEN_AGENTS} and argument:
            return text
    elif text in ("auto", *AGENTS) or find_plugin("agents", text) is not None:
        return text
    known = tuple(dict.fromkeys(("auto", *AGENTS, *SPOKEN_AGENTS, *plugin_names("agents"))))
    from evalkit.diagnostics import nearest

    close = nearest(text, [name for name in known if name not in SPOKEN_AGENTS])
    raise ValueError(f"one of {', '.join(known)}" + (f"; did you mean `{close}`?" if close else ""))


def _place(text: str) -> str:
    try:
        Path(text).expanduser()
    except RuntimeError:
        raise ValueError("a folder's path; there is no such user after ~") from None
    if not text.strip() or "\0" in text:
        raise ValueError("a folder's path")
    return text


def _word(text: str) -> str:
    if not text or any(char.isspace() for char in text):
        raise ValueError("one word")
    return text


def _url(text: str) -> str:
    if not re.fullmatch(r"https?://[^\s/@]+(/\S*)?", text):
        raise ValueError("an address such as http://127.0.0.1:8080, without a user name or password")
    return text.rstrip("/")


def _gateway(text: str) -> str:
    wanted = ("an address such as http://127.0.0.1:8080, the path of a script or a cassette (x.yaml), record:PATH or "
              "direct")
    place, at, address = text.removeprefix(RECORD).partition("@http")
    if text == DIRECT:
        return text
    if text.startswith(("http://", "https://")):
        return _url(text)
    if text.startswith(RECORD) and place.strip():
        return f"{RECORD}{_place(place)}" + (f"@{_url('http' + address)}" if at else "")
    if text.startswith(RECORD) or "://" in text or not re.search(r"[./~]", text):
        raise ValueError(wanted)
    return _place(text)


class Choices(NamedTuple):
    """What a person chose for a run. None: not chosen, the case decides. `CHOICES` tells what each is for."""

    agent: str = "auto"
    model: tuple[str, ...] | None = None
    judge: str = "auto"
    judge_model: str | None = None
    trials: int | None = None
    track: str | None = None
    arm: str | None = None
    run: str = "latest"
    lane: str = "local"
    skip_live: bool = False
    dry: bool = False
    skip_permissions: bool = False
    keep_workspaces: bool = False
    claude: str | None = None
    gateway: str | None = None
    cases: str = "cases"
    store: str | None = None
    case: tuple[str, ...] | None = None
    check: tuple[str, ...] | None = None
    jobs: int = 2
    agents: int = 10
    budget: float | None = None
    retries: int = 2
    fresh: bool = False
    why: bool = False
    progress: str = "auto"
    upload: str | None = None


class Choice(NamedTuple):
    """A choice: its name, what it is where nobody chose, how a word is read (it raises ValueError, with what is good),
    and what it is for.
    """

    name: str
    default: object
    read: Callable[[str], object]
    about: str


_TOLD: dict[str, tuple[Callable[[str], object], str]] = {
    "agent": (_agent, "who is measured: auto, "
        f"{', '.join((*AGENTS, *SPOKEN_AGENTS))}, or the name of a plug-in's"),
    "model": (_list, "the agent's model (a gateway slug); of a comma list each is measured"),
    "judge": (_one_of("auto", "on", "off"), "auto judges where a key is set; on requires one"),
    "judge_model": (_word, "the judge's model (a gateway slug)"),
    "trials": (_positive, "independent samples of each unit (default: the case's, else 1)"),
    "track": (_word, "one track of the cases that have it (default: all tracks)"),
    "arm": (_word, "an arm of the suites, a comma list of them, or `all` (default: each suite's first)"),
    "run": (_label, "the label under which results are kept; a new one asks for new samples"),
    "lane": (_one_of("local", "sandbox", "auto"), "where trials run and are graded: local, plain processes; sandbox, "
        "behind the walls of bubblewrap; auto: the sandbox, where it works"),
    "skip_live": (_flag, "1: no app is built and shown for `check snapshot`, which is skipped"),
    "dry": (_flag, "1: everything but the model call; shows the agent's command line"),
    "skip_permissions": (_flag, "1: the agent never asks before it does something, as with `permissions skip`; what is "
        "denied stays denied"),
    "keep_workspaces": (_flag, "1: leave the workspaces of agents that work in this run on disk, and say where (what "
        "is up to date has none)"),
    "claude": (str, "the path of another Claude Code than the pinned one"),
    "gateway": (_gateway, "how models are asked: the address of another provider; the path of a script or cassette "
        "that plays them; record:PATH keeps what passes; direct: without evalkit's own gateway"),
    "cases": (str, "the folder of the case files"),
    "store": (_place, "the folder of the store, shared with other checkouts (default: .evalkit/store)"),
    "case": (_list, "only cases whose names begin so (a comma list): of those that are named, or of a regraded run"),
    "check": (_list, "regrade: only checks and judges of these ids (a comma list)"),
    "jobs": (_positive, "how many builds and checks that run commands work at once; grep and models do not count"),
    "agents": (_positive, "how many agents work at once, where they wait for models; those that build in their "
        "workspace count as builds too"),
    "budget": (_dollars, "dollars: once they are spent no agent and no judge starts"),
    "retries": (_count, "how often an agent run that its provider failed is begun again"),
    "fresh": (_flag, "1: new samples of the agent runs that are selected; the old ones are kept"),
    "why": (_flag, "1: say for every task whether it runs, and because of what"),
    "progress": (_one_of("auto", "plain"), "plain: lines instead of the live display"),
    "upload": (_one_of("braintrust"), "braintrust: when the run is done, its trials are uploaded (`evalkit upload` "
        "does the same later); verdicts and exit status stand, whatever comes of it"),
}
CHOICES = tuple(Choice(name, Choices._field_defaults[name], *_TOLD[name]) for name in Choices._fields)
_KNOWN = {choice.name: choice for choice in CHOICES}


def read_choices(command_line: Mapping[str, str], environ: Mapping[str, str], root: Path | None) -> Choices:
    """The choices of a run, from all three places; without a root from the first two.

    Raises `UserError` for an unknown name or a bad value.
    """
    values: dict[str, Any] = {}
    for origin, given in (
        ("[tool.evalkit] in pyproject.toml", _from_pyproject(root) if root else {}),
        ("the environment", _from_environment(environ)),
        ("the command line", dict(command_line)),
    ):
        for name, text in given.items():
            if name not in _KNOWN:
                from evalkit.diagnostics import did_you_mean

                raise UserError(f"`{name}` is not a choice (from {origin})", hint=did_you_mean(name, _KNOWN))
            try:
                values[name] = _KNOWN[name].read(text)
            except ValueError as error:
                raise UserError(f"`{name}={text}` (from {origin}) is not valid", hint=f"{name} is {error}") from None
    return Choices(**values)


def split_words(words: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """The names on a command line, and the choices: `name=value`, as doit takes them."""
    return [word for word in words if "=" not in word], dict(word.split("=", 1) for word in words if "=" in word)


def project_table(root: Path, name: str) -> Any:
    """A table of [tool.evalkit] in pyproject.toml, {} where there is none. Raises UserError."""
    return _tool_table(root).get(name, {})


def secret_names(root: Path) -> tuple[str, ...]:
    """The variables that a project calls secret: `secrets` under [tool.evalkit]. Raises UserError."""
    names: Any = _tool_table(root).get("secrets", [])
    if not isinstance(names, list) or not all(isinstance(name, str) and _VARIABLE.fullmatch(name) for name in names):
        raise UserError("`secrets` under [tool.evalkit] in pyproject.toml is no list of variables' names",
                        hint='secrets = ["MY_STAGE", "OTHER"]')
    return tuple(names)


def _from_pyproject(root: Path) -> dict[str, str]:
    return {name: str(value).lower() if isinstance(value, bool) else str(value)  # as TOML spells it
            for name, value in _tool_table(root).items() if name not in _TABLES}


def _tool_table(root: Path) -> dict[str, Any]:
    path = root / "pyproject.toml"
    if not path.is_file():
        return {}
    import tomllib

    try:
        table: Any = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise UserError(f"pyproject.toml cannot be read: {error}") from None
    for name in ("tool", "evalkit"):
        table = table.get(name, {})
        if not isinstance(table, dict):
            raise UserError(f"`{name}` in pyproject.toml is not a table")
    return dict(table)


def _from_environment(environ: Mapping[str, str]) -> dict[str, str]:
    prefix = "EVALKIT_"
    # These say where this machine keeps things, and tell processes apart; they are no choices of a run.
    others = {"EVALKIT_CACHE", "EVALKIT_WORK", "EVALKIT_PROCESS"}
    return {name.removeprefix(prefix).lower(): value for name, value in environ.items()
            if name.startswith(prefix) and value and name not in others}
