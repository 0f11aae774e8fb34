"""`evalkit store`: looks into the store, clears it, checks it, and carries entries from one store to another."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import orjson

from evalkit.authoring.columns import columns, count
from evalkit.authoring.project import find_root
from evalkit.authoring.store_facts import Fact, ago, closure, facts, megabytes, naming
from evalkit.authoring.store_gc import clear, seconds
from evalkit.dag.samples import note_imported
from evalkit.diagnostics import did_you_mean
from evalkit.errors import Exit, UserError
from evalkit.execute.places import Places
from evalkit.execute.store import Store
from evalkit.execute.store_archive import Name, export_entries, import_entries
from evalkit.plan.choices import read_choices, split_words

__all__ = ["ABOUT", "arguments", "main"]

ABOUT = "the store of outcomes: list, clear, verify, export, import"
_EPILOG = """\
examples:
  evalkit store ls agent                   the agent runs, with what each cost
  evalkit store ls --json | jq '.[].key'
  evalkit store gc --dry-run               what can be removed
  evalkit store gc --older 7d
  evalkit store verify --repair            set damaged entries aside: the next run makes them again
  evalkit store export runs.tar.zst --run latest
  evalkit store import runs.tar.zst        a colleague's agent runs, paid for once

The store is .evalkit/store, or the folder that EVALKIT_STORE names, or `store` under [tool.evalkit] in pyproject.toml.
"""
_SHORT = 12
"""Digits of a key that are shown."""
_FEWEST = 4
"""Digits of a key that name it."""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)

    def action(name: str, about: str) -> argparse.ArgumentParser:
        made = actions.add_parser(name, help=about, description=about[0].upper() + about[1:] + ".")
        made.set_defaults(words=[])
        return made

    def choices(action: argparse.ArgumentParser) -> None:
        action.add_argument("words", nargs="*", metavar="name=value", help="choices, as for `doit run`: store=DIR")

    ls = action("ls", "list the entries")
    ls.add_argument("words", nargs="*", metavar="KIND",
                    help="agent, judge, template, workspace …; default: all. Also choices: store=DIR")
    ls.add_argument("--json", action="store_true", help="plain data")
    gc = action("gc", "remove what is made again for nothing and is not needed")
    gc.add_argument("--older", metavar="SPAN", default="30d",
                    help="keep what was made or used within this time: 30d (the default), 12h, 0d")
    gc.add_argument("--dry-run", action="store_true", help="remove nothing, list what would go")
    gc.add_argument("--paid", action="store_true",
                    help="remove what cost money too: agent runs and judges' answers that no result names")
    gc.add_argument("--with", dest="others", metavar="DIR", type=Path, action="append", default=[],
                    help="another checkout that shares the store: what its results name stays")
    choices(gc)
    verify = action("verify", "compare every entry with its digests; exit status 3 where one is damaged")
    verify.add_argument("--repair", action="store_true", help="set damaged entries aside: they are made again")
    choices(verify)
    export = action("export", "write entries, and what they were made from, into one file")
    export.add_argument("file", metavar="FILE", type=Path, help="the file to write, .tar.zst")
    export.add_argument("words", metavar="KEY", nargs="*",
                        help="keys, or their first digits; default: every entry. Also choices: store=DIR")
    export.add_argument("--run", metavar="RUN", help="what the results of a run name")
    export.add_argument("--case", metavar="CASE", help="what the results of a case, or of a unit, name")
    imports = action("import", "put the entries of an exported file in place; those that are there stay")
    imports.add_argument("file", metavar="FILE", type=Path, help="a file that `evalkit store export` wrote")
    choices(imports)


def main(options: argparse.Namespace) -> int:
    """Do what is asked for. 0: done; 3: `verify` found damaged entries."""
    root = find_root()
    names, choices = split_words(options.words)
    if len(names) > {"ls": 1, "export": len(names)}.get(options.action, 0):
        raise UserError(f"`{names[-1]}` is one too many", hint=f"evalkit store {options.action} --help")
    places = Places.of(root, os.environ, read_choices(choices, os.environ, root).store)
    store = Store(places.store, _say)
    match options.action:
        case "ls":
            _ls(places, store, names[0] if names else None, as_json=options.json)
        case "gc":
            clear(places, store, options.others, older=_span(options.older), paid=options.paid, dry=options.dry_run)
        case "verify":
            return _verify(store, repair=options.repair)
        case "export":
            _export(places, store, options, names)
        case "import":
            _import(places, store, options.file)
    return Exit.OK


def _say(text: str) -> None:
    print(text, file=sys.stderr)


def _span(text: str) -> float:
    try:
        return seconds(text)
    except ValueError as error:
        raise UserError(f"`--older {text}` is no span of time", hint=f"it is {error}") from None


# ---- ls ----
def _ls(places: Places, store: Store, kind: str | None, *, as_json: bool) -> None:
    names = list(store.entries())
    kinds = sorted({name for name, _ in names})
    if kind is not None and kind not in kinds:
        raise UserError(f"the store has no entries of kind `{kind}`", hint=did_you_mean(kind, kinds))
    named = naming([places.results])
    every = {fact.name: fact for fact in facts(store, names, named.units)}
    found = [fact for fact in every.values() if kind in (None, fact.kind)]
    if as_json:
        needed = closure(every, named.digests)
        data = orjson.dumps([_data(fact, named.units, needed) for fact in found], option=orjson.OPT_INDENT_2)
        sys.stdout.write(data.decode() + "\n")
        return
    if not found:
        _say(f"the store {store.root} is empty")
        return
    now = time.time()
    order = sorted(found, key=lambda fact: (fact.kind, -fact.made, fact.key))
    for line in columns([(fact.kind, fact.key[:_SHORT], f"{ago(now - fact.made):>4}", f"{megabytes(fact.bytes):>7}",
                          fact.ending or ("damaged" if fact.damage else ""), _dollars(fact.cost), fact.what)
                         for fact in order]):
        print(line)
    print()
    for line in columns([_total(name, found) for name in kinds if kind in (None, name)]):
        print(line)


def _total(kind: str, found: Iterable[Fact]) -> tuple[str, ...]:
    mine = [fact for fact in found if fact.kind == kind]
    costs = [fact.cost for fact in mine if fact.cost is not None]
    number = "1 entry" if len(mine) == 1 else f"{len(mine)} entries"
    return kind, number, megabytes(sum(fact.bytes for fact in mine)), _dollars(sum(costs)) if any(costs) else ""


def _dollars(cost: float | None) -> str:
    return "" if cost is None else f"${cost:.4f}" if 0 < cost < 0.01 else f"${cost:.2f}"


def _data(fact: Fact, units: Mapping[str, Sequence[str]], needed: Collection[Name]) -> dict[str, object]:
    return {"kind": fact.kind, "key": fact.key, "bytes": fact.bytes, "paid": fact.paid, "what": fact.what,
            "cost": fact.cost, "ending": fact.ending, "units": list(units.get(fact.key, ())),
            "needed": fact.name in needed, "damage": fact.damage,
            "made_at": datetime.fromtimestamp(fact.made, UTC).isoformat(timespec="seconds"),
            "used_at": datetime.fromtimestamp(fact.used, UTC).isoformat(timespec="seconds")}


# ---- verify ----
def _verify(store: Store, *, repair: bool) -> int:
    names = list(store.entries())
    damaged = 0
    for number, (kind, key) in enumerate(names, 1):
        _progress(f"{number} of {len(names)}")
        damage = store.damage(kind, key)
        if damage:
            _progress("")
            damaged += 1
            print(f"{kind} {key}: {damage}")
            if repair:
                store.open(kind, key)
    _progress("")
    of = "1 entry" if len(names) == 1 else f"{len(names)} entries"
    print(f"{damaged} of {of} damaged" if damaged else f"{of}, none damaged")
    if damaged and not repair:
        _say("`evalkit store verify --repair` sets them aside: the next run makes them again")
    return Exit.HARNESS if damaged else Exit.OK


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()


# ---- export and import ----
def _export(places: Places, store: Store, options: argparse.Namespace, keys: Sequence[str]) -> None:
    asked = [options.run is not None, options.case is not None, bool(keys)]
    if sum(asked) > 1:
        raise UserError("`--run`, `--case` and keys each choose what is exported", hint="give one of them")
    if os.path.lexists(options.file) and not options.file.is_file():
        raise UserError(f"`{options.file}` is {'a folder' if options.file.is_dir() else 'no file'}",
                        hint="name a file: runs.tar.zst")
    names = list(store.entries())
    chosen = sorted(_chosen(places, store, names, options, keys)) if any(asked) else names
    if not chosen:
        raise UserError("there is nothing to export", hint="`evalkit store ls` lists what the store has")
    size = export_entries(store, chosen, options.file)
    print(f"{_counted(chosen)}: {megabytes(size)}, as {megabytes(options.file.stat().st_size)} in {options.file}")


def _chosen(places: Places, store: Store, names: Sequence[Name], options: argparse.Namespace,
            keys: Sequence[str]) -> set[Name]:
    known = {fact.name: fact for fact in facts(store, names, {})}
    if keys:
        return closure(known, [_key(text, names) for text in keys])
    folder = places.results if options.run is None else places.results / options.run
    if not folder.is_dir():
        runs = [path.name for path in places.results.iterdir() if path.is_dir()] if places.results.is_dir() else []
        raise UserError(f"there are no results of the run `{options.run}`" if options.run else "there are no results",
                        hint=did_you_mean(options.run or "", runs))
    named = naming([folder], options.case or "")
    if options.case is not None and not named.units:
        raise UserError(f"no result is of a case or a unit `{options.case}`")
    gone = [key for key in named.units if ("agent", key) not in known]
    if gone:
        _say(f"{count(len(gone), 'agent run')} of these results {'is' if len(gone) == 1 else 'are'} not in the store")
    return closure(known, named.digests)


def _key(text: str, names: Sequence[Name]) -> str:
    """The key that begins so. Raises UserError where none does, or several do."""
    digits = text.rpartition(":")[2].lower()
    found = {key for kind, key in names if key.startswith(digits) and text.rpartition(":")[0] in ("", kind)}
    if len(digits) < _FEWEST or not found:
        raise UserError(f"the store has no entry `{text}`",
                        hint=f"at least {_FEWEST} of its first digits; `evalkit store ls` shows them")
    if len(found) > 1:
        raise UserError(f"`{text}` begins the keys of {len(found)} entries", hint="give more digits")
    return found.pop()


def _import(places: Places, store: Store, file: Path) -> None:
    done = import_entries(store, file, lambda name: _say(f"somebody makes {name[0]} {name[1][:_SHORT]}: waiting"))
    note_imported(places.state, store, {key for kind, key in done.new if kind == "agent"})
    new = f"{_counted(done.new)} new" if done.new else "nothing new"
    there = f", {len(done.there)} were there and stay" if done.there else ""
    print(new + there)


def _counted(names: Iterable[Name]) -> str:
    kinds: dict[str, int] = {}
    for kind, _ in names:
        kinds[kind] = kinds.get(kind, 0) + 1
    return ", ".join(count(number, kind) for kind, number in sorted(kinds.items()))
