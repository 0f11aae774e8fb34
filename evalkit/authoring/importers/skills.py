"""The format `skill-evals`: folders with PROMPT.md, a hidden EVAL.ts or EVAL.tsx, package.json and starter files.

What the agent may see goes to `skeleton/`, the hidden tests to `hidden/`. A skill of the source (a folder with
SKILL.md) is what the arms differ in.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from evalkit.authoring.importers.job import Job
from evalkit.authoring.importers.report import Section
from evalkit.authoring.importers.source import Source, SourceError, read_json, read_text
from evalkit.authoring.importers.writer import Lines, is_name, quoted

__all__ = ["MARKERS", "RUN", "convert"]

MARKERS = ("PROMPT.md",)
RUN = "npx vitest run --outputFile={report} --reporter=json"
_TESTS = ("EVAL.ts", "EVAL.tsx")
_CONFIG = re.compile(r"vite(?:st)?\.config\.[cm]?[jt]s")
_VITEST = "3.2.4"


def convert(job: Job) -> None:
    """Convert every case of the sources, and write the suite that they share."""
    versions: set[str] = set()
    for source in job.sources:
        for folder in source.find(*MARKERS):
            _convert_case(job, source, folder, versions)
    skills = _skills(job, [folder for source in job.sources for folder in source.find(*MARKERS)])
    job.target.add("suite.eval", _suite(job.suite, skills, versions))
    shared = job.report.shared
    shared.look("suite.eval", "the agent's rules and the version of vitest are a guess at what the runner uses")
    if not skills:
        shared.look("skills", "no folder with a SKILL.md was found in the source: the suite measures no skill; name "
                    "the source's root as PATH, or add `skills` and the arms by hand")


def _convert_case(job: Job, source: Source, folder: Path, versions: set[str]) -> None:
    section = job.report.case(folder.name, source.shown(folder))
    name = job.case_name(folder.name, section)
    prompt = _prompt(source, folder, section)
    tests = [test for test in _TESTS if source.exists(folder / test)]
    if not tests:
        section.lost("EVAL.ts", "there is neither EVAL.ts nor EVAL.tsx, and a case without a check measures nothing")
    if name is None or prompt is None or not tests:
        return
    _package(source, folder, section, versions)
    skeleton = source.tree(folder, section, without=("PROMPT.md", *_TESTS))
    hidden = {}
    configured = any(_CONFIG.fullmatch(file) for file in skeleton)
    for test in tests:
        try:
            real = source.file(folder / test)
        except SourceError as error:
            section.lost(test, str(error))
            continue
        new = test if configured else test.replace("EVAL.", "EVAL.test.")
        hidden[new] = real
        if new != test:
            section.changed(test, f"it became hidden/{new}, a name that vitest takes for tests without a configuration")
    if not hidden:
        return
    section.title = name
    if not skeleton:
        job.target.add(f"{name}/skeleton/.gitkeep", "")
        section.look("skeleton", "the source has no starter files; the workspace starts empty")
    job.target.add(f"{name}/PROMPT.md", prompt)
    job.target.add_tree(f"{name}/skeleton", skeleton)
    job.target.add_tree(f"{name}/hidden", hidden)
    lines = Lines()
    with lines.block(f"case {name}"):
        lines.add('prompt "PROMPT.md"', 'scaffold copy "skeleton"',
                  f'check hidden-tests "hidden" run {quoted(RUN)} as behaviour "its tests pass"')
    job.add_case(name, lines, section)
    section.carried(f"PROMPT.md, {', '.join(hidden)}, {len(skeleton)} starter files")


def _prompt(source: Source, folder: Path, section: Section) -> str | None:
    try:
        prompt = read_text(source, folder / "PROMPT.md")
    except SourceError as error:
        section.lost("PROMPT.md", str(error))
        return None
    if not prompt.strip():
        section.lost("PROMPT.md", "it is empty")
        return None
    return prompt


def _package(source: Source, folder: Path, section: Section, versions: set[str]) -> None:
    """Note the version of vitest that a case asks for."""
    path = folder / "package.json"
    if not source.exists(path):
        section.look("package.json", "there is none")
        return
    try:
        data: Any = read_json(read_text(source, path))[0]
    except SourceError as error:
        section.look("package.json", f"copied as it is, though {error}")
        return
    for group in ("devDependencies", "dependencies"):
        wanted = data.get(group) if isinstance(data, dict) else None
        version = wanted.get("vitest") if isinstance(wanted, dict) else None
        if isinstance(version, str) and (found := re.fullmatch(r"[\^~=]?(\d+\.\d+\.\d+)", version)):
            versions.add(found[1])


def _skills(job: Job, cases: list[Path]) -> list[str]:
    """Copy the skills of the sources, but for those that are a case's starter files. Returns their names."""
    names = []
    for source in job.sources:
        for folder in source.find("SKILL.md"):
            name = folder.name
            if folder == source.root or name in names or any(folder.is_relative_to(case) for case in cases):
                continue
            if not is_name(name):
                job.report.shared.lost(source.shown(folder), f"`{name}` is no name of a skill")
                continue
            job.target.add_tree(f"skills/{name}", source.tree(folder, job.report.shared))
            names.append(name)
    return names


def _suite(name: str, skills: list[str], versions: set[str]) -> str:
    version = max(versions, key=lambda text: tuple(map(int, text.split(".")))) if versions else _VITEST
    lines = Lines()
    with lines.block(f"suite {name}"):
        lines.comment("Written by `evalkit import skill-evals`. Lines under `look:` are what the source's runner "
                      "does in its program: compare them with it.")
        lines.blank()
        lines.comment("look: the version of vitest, and what else the hidden tests import." if versions else
                      "look: no package.json of the source pins vitest; take the version that its results are from.")
        with lines.block("toolchain tests"):
            lines.add(f'npm "vitest@{version}"')
        lines.blank()
        lines.comment("look: the agent has local tools alone, no MCP server.")
        with lines.block("agent claude"):
            lines.add("allow Bash, Glob, Grep", "mcp none")
        lines.add("use agent claude")
        if skills:
            lines.blank()
            lines.add(f'skills {", ".join(skills)} from "skills" linked')
            lines.blank()
            lines.add("arm with-skill { }", "arm baseline { skills none }")
    return lines.text()
