"""The index tells what there is without the compiler, and only while it is true."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from evalkit.analysis import load_project, pickles
from evalkit.analysis.index import CaseHead, SuiteHead, load_index
from tests.unit.language.project import CASE, write

HEAVY = ("attr", "attrs", "lark", "orjson", "pickle", "regex", "rich", "evalkit.analysis.model",
         "evalkit.diagnostics", "evalkit.digest", "evalkit.records", "evalkit.syntax")
SUITE = """suite s {
  about "Things."
  model env THE_MODEL else "a/b"
  profile app { scaffold copy "skeleton" }
  arm plain { }
  arm cut { judge-model env THE_JUDGE else "a/c" }
}
"""


def project_in(root: Path, about: str = "One thing.", after: str = "") -> Path:
    text = CASE.format(f'about "{about}"').replace("it", "one", 1)
    write(root, {"cases/s/one.eval": text + after, "cases/s/two.eval": CASE.format("").replace("it", "two", 1)},
          suite=SUITE)
    time.sleep(0.03)  # what was just written is not kept
    return root


def run(code: str, *args: str) -> str:
    return subprocess.run([sys.executable, "-c", code, *args], check=True, stdout=subprocess.PIPE, text=True).stdout


def test_heads(tmp_path: Path) -> None:
    """Names, what is told of them, and the variables that models come from."""
    assert None is load_index(project_in(tmp_path), "cases")
    load_project(tmp_path)
    index = load_index(tmp_path, "cases")
    assert index is not None
    assert SuiteHead("s", "Things.", "cases/s", ("one", "two")) == index.suites["s"]
    assert ["one", "two"] == list(index.cases)
    units = ("one+plain", "one+cut")
    assert CaseHead("one", "s", "One thing.", units, ("THE_JUDGE", "THE_MODEL"), "") == index.cases["one"]._replace(
        fingerprint="")
    assert ("THE_JUDGE", "THE_MODEL") == index.variables


def test_reading_an_index_is_lean(tmp_path: Path) -> None:
    """Nothing heavy is imported for it, nor to load a project and look at the names in it."""
    load_project(project_in(tmp_path))
    told = run("""if True:
        import sys
        from pathlib import Path
        from evalkit.analysis.index import load_index
        index = load_index(Path(sys.argv[1]), "cases")
        from evalkit.analysis import load_project
        project = load_project(Path(sys.argv[1]), index=index)
        print(*index.cases, *project.units, project.index is index)
        print(*load_project(Path(sys.argv[1])).index.variables)
        print(*[name for name in sys.argv[2:] if name in sys.modules])
    """, str(tmp_path), *HEAVY)
    assert "one two one two True\nTHE_JUDGE THE_MODEL\n\n" == told


def test_only_what_is_asked_for_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The units of one case, once."""
    expected = load_project(project_in(tmp_path)).units["two"]
    asked: list[bytes] = []
    load = pickles.load

    def noted(data: bytes) -> object:
        asked.append(data)
        return load(data)

    monkeypatch.setattr(pickles, "load", noted)
    project = load_project(tmp_path)
    assert expected == project.units["two"] == project.units["two"]
    assert 1 == len(asked)
    assert "three" not in project.units
    with pytest.raises(KeyError):
        project.units["three"]


def test_fingerprints(tmp_path: Path) -> None:
    """They change with what a case does and shows, and with its suite's; not with comments and places."""

    def fingerprints() -> tuple[str, str]:
        project = load_project(tmp_path)
        return project.fingerprint("one"), project.fingerprint("two")

    first = fingerprints() if project_in(tmp_path) else None
    assert first is not None
    project_in(tmp_path, after="\n# the end\n")
    assert first == fingerprints()
    project_in(tmp_path, about="Another thing.")
    assert (fingerprints()[0] != first[0], fingerprints()[1]) == (True, first[1])
    project_in(tmp_path)
    (tmp_path / "cases/s/suite.eval").write_text(SUITE.replace("Things", "Other things"))
    assert all(new != old for new, old in zip(fingerprints(), first, strict=True))


def test_an_index_outlives_its_file(tmp_path: Path) -> None:
    """Another process may compile the project anew meanwhile."""
    load_project(project_in(tmp_path))
    project = load_project(tmp_path)
    (tmp_path / "cases/s/suite.eval").write_text(SUITE + "# more\n")
    time.sleep(0.03)
    other = load_project(tmp_path)
    assert other.index.log is not None is not project.index.log
    assert other.index.log.inode != project.index.log.inode
    assert other.fingerprint("one") == project.fingerprint("one")
    assert other.units["one"] == project.units["one"]
