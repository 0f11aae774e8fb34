"""`evalkit doctor`: what works on this machine, and the line to type where something does not."""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from attrs import frozen

from evalkit import __version__
from evalkit.analysis.project import load_project
from evalkit.dag.asking import Asking
from evalkit.errors import EvalkitError, Exit
from evalkit.execute.image import LINUX, find_image, read_image
from evalkit.execute.image_build import INSTALL
from evalkit.execute.lanes.bwrap import find_bwrap
from evalkit.execute.lanes.choose import hidden, trouble
from evalkit.execute.lanes.limits import Cgroup, Limits
from evalkit.execute.models.provider import missing_key
from evalkit.execute.places import Places
from evalkit.execute.secrets import KEY_VARIABLES
from evalkit.plan.choices import read_choices

__all__ = ["ABOUT", "arguments", "findings", "main"]

ABOUT = "what works on this machine, and the line to type where something does not"
_PLAYS, _UNJUDGED = "agent=oracle plays the reference answer", "judge=off asks no judge"
_ROOM = 5 * 1024**3
"""Bytes that a few warm workspaces and toolchains take."""


@frozen
class Finding:
    """A line of the report. works: None for what is only told. hint: what to type."""

    what: str
    told: str
    works: bool | None = True
    hint: str = ""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = "exit status: 0 all that a run may need works, 1 something does not\n"


def main(options: argparse.Namespace) -> int:
    found = list(findings(Path.cwd(), os.environ))
    width = max(len(finding.what) for finding in found)
    for finding in found:
        sign = {True: "ok", False: "no", None: "  "}[finding.works]
        sys.stdout.write(f"{sign}  {finding.what:{width}}  {finding.told}\n")
        if finding.hint:
            sys.stdout.write(f"    {'':{width}}  {finding.hint}\n")
    return Exit.OK if all(finding.works is not False for finding in found) else Exit.CASE_FAILED


def findings(root: Path, environ: Mapping[str, str]) -> Iterator[Finding]:
    """What a run would meet here. environ: the person's variables; no value of a key is told."""
    yield Finding("evalkit", f"{__version__}, Python {platform.python_version()} on {platform.system()} "
                             f"{platform.machine()}", None)
    yield from _lanes(root, environ)
    yield from _places(root, environ)
    keys = [name for name in sorted(KEY_VARIABLES) if environ.get(name)]
    yield Finding("keys", ", ".join(keys) if keys else "none: cases play their reference answers", None)
    yield from _models(root, environ)


def _models(root: Path, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Models that variables ask for, and that no key opens: a run would stop there."""
    try:
        choices, spoken = read_choices({}, environ, root), read_choices({}, environ, None)
        endpoints = Asking(choices.gateway, root, environ, {}).endpoints
        units = load_project(root, choices.cases).all_units()
    except EvalkitError:  # a choice that is none is told above, and what is wrong in cases by `evalkit check`
        return
    asked = {(model, "EVALKIT_MODEL"): _PLAYS for model in spoken.model or ()}
    asked |= {(spoken.judge_model, "EVALKIT_JUDGE_MODEL"): _UNJUDGED} if spoken.judge_model else {}
    for unit in units:
        for said, of_unit, without in ((spoken.model, unit.model, _PLAYS),
                                       (spoken.judge_model, unit.judge_model, _UNJUDGED)):
            if not said and of_unit.variable and (named := environ.get(of_unit.variable)):
                asked |= {(model.strip(), of_unit.variable): without for model in named.split(",")}
    for (model, variable), without in asked.items():
        if model and endpoints.find(model) is None:
            yield Finding("model", f"{variable} asks for `{model}`, and no key for it is set", works=False,
                          hint=missing_key(variable, model, without=without).hint)


def _lanes(root: Path, environ: Mapping[str, str]) -> Iterator[Finding]:
    try:
        said = read_choices({}, environ, root).lane
    except EvalkitError as error:
        yield Finding("choices", error.message, works=False, hint=error.hint)
        said = "local"
    found = trouble(environ.get("PATH"))
    if found is not None:
        # Nobody needs it who did not ask for it.
        yield Finding("sandbox lane", found.reason, works=False if said != "local" else None, hint=found.hint)
        return
    yield Finding("sandbox lane", f"works, by {find_bwrap(environ.get('PATH'))}"
                                  + ("" if said != "local" else "; choose it with lane=sandbox"))
    if (covered := hidden(root, environ)) is not None:
        yield Finding("its folders", covered.reason, works=False if said != "local" else None, hint=covered.hint)
    group = Cgroup.make(Limits())
    if group is not None:
        group.remove()
    yield Finding("its limits", "held by a control group" if group is not None else
                  "held by looking several times a second: this user may make no control group", None)
    yield _image(root, environ)


def _image(root: Path, environ: Mapping[str, str]) -> Finding:
    """Whether live checks have their image."""
    what, line = "live checks", f"doit run image:{LINUX}"
    try:
        image = read_image(root, LINUX)
    except EvalkitError as error:
        return Finding(what, error.message, works=False, hint=error.hint)
    found = find_image(Places.of(root, environ).cache, image)
    if found is not None:
        return Finding(what, f"the image `{LINUX}` is there: {found}")
    if shutil.which("mmdebstrap", path=environ.get("PATH")) is None:
        line = f"{INSTALL}, then {line}"
    return Finding(what, f"skipped: there is no image `{LINUX}`", None, line)


def _places(root: Path, environ: Mapping[str, str]) -> Iterator[Finding]:
    places = Places.of(root, environ)
    for what, folder, variable in (("work folder", places.work, "EVALKIT_WORK"),
                                   ("cache", places.cache, "EVALKIT_CACHE")):
        there = next(parent for parent in (folder, *folder.parents) if parent.is_dir())
        free = shutil.disk_usage(there).free
        writable = os.access(there, os.W_OK | os.X_OK)
        told = f"{folder}: {free / 1024**3:.0f} GB free" if writable else f"{folder} cannot be written"
        yield Finding(what, told, writable and free > _ROOM,
                      "" if writable and free > _ROOM else f"name another folder: {variable}=/some/folder")
