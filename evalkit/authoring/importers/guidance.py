"""The format `guidance-evals`: folders with prompt.md and spec.json. One model's answer, without tools, is scored.

Skills, reference files and templates of the source are shared by cases: they go to folders of the suite.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

from attrs import define, field

from evalkit.authoring.importers.fields import Fields, kind_of
from evalkit.authoring.importers.job import Job
from evalkit.authoring.importers.pyregex import translate_python
from evalkit.authoring.importers.report import Section
from evalkit.authoring.importers.source import Source, SourceError, read_json, read_text
from evalkit.authoring.importers.writer import Lines, join, quoted

__all__ = ["MARKERS", "convert"]

MARKERS = ("spec.json",)
_LANGUAGES = {".js": "javascript", ".mjs": "javascript", ".jsx": "javascript", ".ts": "typescript",
              ".tsx": "typescript", ".py": "python"}
_PLACEHOLDER = "The template of this name was not in the source: put its files here, and remove this one.\n"


def convert(job: Job) -> None:
    """Convert every case of the sources, and write the suite that they share."""
    shared = _Shared(job)
    for source in job.sources:
        for folder in _folders(source):
            _Case(job, shared, source, folder).convert()
    job.target.add("suite.eval", _suite(job.suite))
    job.report.shared.look("suite.eval", "model, judge and contract are settings of the source's runner; compare them "
                           "with it")
    job.report.shared.look("score", "the source gives a mean and no threshold: say in each case from where on it "
                           "passes (`pass at 0.8`), or that it is only shown (`advisory`)")


def _folders(source: Source) -> list[Path]:
    """The folders of cases: those with a spec.json, and what stands beside a whole case and has a prompt alone."""
    specs = source.find(*MARKERS)
    whole = [folder for folder in specs if source.exists(folder / "prompt.md")]
    beside = {folder.parent for folder in whole} - {source.root.parent}
    halves = [folder for parent in beside for folder in parent.iterdir()
              if folder not in specs and not folder.is_symlink() and (folder / "prompt.md").is_file()]
    # Elsewhere in a repository a spec.json may be anything.
    return sorted({*whole, *halves, *(folder for folder in specs if not whole or folder.parent in beside)})


@define
class _Shared:
    """Folders and files that several cases name: copied once, when the first case asks for them."""

    job: Job
    templates: dict[str, str] = field(factory=dict)
    files: dict[str, str | None] = field(factory=dict)

    def skill(self, name: str, section: Section) -> str | None:
        """The path of a skill within the suite; None where the source has none of this name."""
        key = f"skills/{name}"
        if key not in self.files:
            found = self.job.find_folder("SKILL.md", name)
            self.files[key] = key if found else None
            if found:
                source, folder = found
                self.job.target.add_tree(key, source.tree(folder, self.job.report.shared))
        if self.files[key] is None:
            section.lost("skill", f"no folder `{name}` with a SKILL.md is in the source; is its root the PATH?")
        return self.files[key]

    def reference(self, path: str, label: str, section: Section) -> str | None:
        """The path of a reference file within the suite; None where the source has no such file."""
        key = f"references/{path.removeprefix('./')}"
        if not _within(path):
            section.lost(label, f"`{path}` is not a path within the source")
            return None
        if key not in self.files:
            self.files[key] = None
            for source in self.job.sources:
                try:
                    self.job.target.add(key, source.file(source.root / path))
                except SourceError:
                    continue
                self.files[key] = key
                break
        if self.files[key] is None:
            section.lost(label, f"no file `{path}` is in the source; is its root the PATH?")
        return self.files[key]

    def template(self, path: str, section: Section) -> str:
        """The path of a template within the suite. Where the source has none, a folder to put it in is made."""
        if path in self.templates:
            name = self.templates[path]
            if self.job.target.has(f"{name}/{_missing(name)}"):
                section.lost("template", f"no folder `{path}` is in the source; {name}/ is waiting for it")
            return name
        name = f"templates/{PurePosixPath(path).name}"
        while name in self.templates.values():
            name += "-2"
        self.templates[path] = name
        files: dict[str, Path] = {}
        for source in self.job.sources:
            folder = source.root / path
            if folder.is_dir() and folder.resolve().is_relative_to(source.root):
                files = source.tree(folder, self.job.report.shared)
                break
        self.job.target.add_tree(name, files)
        if not files:
            self.job.target.add(f"{name}/{_missing(name)}", _PLACEHOLDER)
            section.lost("template", f"no folder `{path}` is in the source; {name}/ is waiting for it")
        return name


def _missing(name: str) -> str:
    return f"MISSING-{PurePosixPath(name).name}.txt"


def _within(path: str) -> bool:
    parts = PurePosixPath(path)
    return bool(parts.name) and not parts.is_absolute() and ".." not in parts.parts and "\\" not in path \
        and path.isprintable()


class _Case:
    def __init__(self, job: Job, shared: _Shared, source: Source, folder: Path) -> None:
        self.job = job
        self.shared = shared
        self.source = source
        self.folder = folder
        self.section = job.report.case(folder.name, source.shown(folder))

    def convert(self) -> None:
        section = self.section
        fields, prompt = self._read()
        name = self.job.case_name(self.folder.name, section)
        if fields is None or prompt is None or name is None:
            return
        score = self._score(fields)
        answer = fields.text("edit_file")
        if answer is None or not _within(answer):
            section.lost("edit_file", "it is missing; taken as `main.js`" if answer is None else
                         f"`{answer}` is not a path within the workspace; taken as `main.js`")
            answer = "main.js"
        template = fields.text("template")
        guidance = self._guidance(fields)
        fields.finish()
        language = _LANGUAGES.get(PurePosixPath(answer).suffix)
        if language is None:
            section.lost("edit_file", f"`{answer}` is in no language that `score code` knows; taken as javascript")
        section.title = name
        lines = Lines()
        with lines.block(f"case {name}"):
            lines.add("use answer")
            self.job.prompt(lines, name, prompt)
            if guidance:
                lines.add(f"guidance {join(f'../{path}' for path in guidance)}")
            lines.add(f"answer {quoted(answer)}{self._over(template)}")
            with lines.block("score code as code"):
                lines.add(f"language {language or 'javascript'}", *score)
                if language == "javascript":
                    lines.add('parses "node --check {answer}"')
        if language not in (None, "javascript"):
            section.look("edit_file", f"the source parses answers with node; `parses` was left out for {language}")
        self._spare()
        if not self.job.add_case(name, lines, section):
            return
        section.carried("prompt.md, spec.json")

    def _read(self) -> tuple[Fields | None, str | None]:
        section, prompt, fields = self.section, None, None
        try:
            prompt = read_text(self.source, self.folder / "prompt.md")
            if not prompt.strip():
                raise SourceError("it is empty")
        except SourceError as error:
            section.lost("prompt.md", str(error))
            prompt = None
        try:
            data, twice = read_json(read_text(self.source, self.folder / "spec.json"))
            if not isinstance(data, dict):
                raise SourceError(f"it holds {kind_of(data)}, not an object")
            fields = Fields(data, section)
            for key in twice:
                section.lost(key, "it stands twice in one object; the last one was taken")
        except SourceError as error:
            section.lost("spec.json", str(error))
        return fields, prompt

    def _guidance(self, fields: Fields) -> list[str]:
        skill, found = fields.text("skill"), []
        if skill is not None:
            if not re.fullmatch(r"[\w.-]+", skill):
                fields.lost("skill", f"`{skill}` is no name of a skill")
            else:
                found.append(self.shared.skill(skill, self.section))
        for index, path in enumerate(fields.texts("reference_files", one=True)):
            found.append(self.shared.reference(path, f"reference_files[{index}]", self.section))
        return list(dict.fromkeys(path for path in found if path))

    def _over(self, template: str | None) -> str:
        if template is None:
            self.section.look("template", "there is none: the answer's folder starts empty")
            name = "templates/empty"
            self.job.target.add(f"{name}/.gitkeep", "")
        elif not _within(template):
            self.section.lost("template", f"`{template}` is not a path within the source")
            name = "templates/empty"
            self.job.target.add(f"{name}/.gitkeep", "")
        else:
            name = self.shared.template(template, self.section)
        return f" over template {quoted(f'../{name}')}"

    def _score(self, fields: Fields) -> list[str]:
        lines = []
        for key, word in (("expected_imports", "imports"), ("expected_apis", "apis")):
            values = fields.texts(key, one=True)
            if values:
                lines.append(f"{word} {join(values)}")
        patterns = [self.job.pattern(pattern, f"forbidden_patterns[{index}]", self.section, translate_python)
                    for index, pattern in enumerate(fields.texts("forbidden_patterns", one=True))]
        known = [pattern for pattern in patterns if pattern is not None]
        if known:
            lines.append(f"forbid {', '.join(known)}")
        if not lines:
            self.section.look("spec.json", "it expects and forbids nothing: the answer's syntax alone is scored")
        return lines

    def _spare(self) -> None:
        for path in sorted(self.folder.iterdir()):
            if path.name not in ("prompt.md", "spec.json"):
                self.section.look(path.name, "the format has no such file; it was not copied")


def _suite(name: str) -> str:
    lines = Lines()
    with lines.block(f"suite {name}"):
        lines.comment("Written by `evalkit import guidance-evals`. Lines under `look:` are what the source's runner "
                      "does in its program: compare them with it.")
        lines.blank()
        lines.comment("look: the models.")
        lines.add('model env GEMINI_MODEL else "google/gemini-2.5-pro"', 'judge-model "google/gemini-2.5-pro"')
        lines.blank()
        lines.comment('look: the app contract that the source puts before the guidance: contract "contract.md"')
        with lines.block("profile answer"):
            lines.add("use agent api", "temperature 0.2")
        lines.blank()
        lines.comment('look: the source can load the answer in a browser (check page "index.html" loads as smoke) and '
                      "have it judged; add both here if its results are to be compared.")
        lines.add("arm with-skill { }", "arm without-skill { guidance none; contract none }")
    return lines.text()
