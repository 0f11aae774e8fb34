"""W004: the front matter of skills."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from evalkit.lint.front_matter import problems
from tests.unit.lint.project import findings, places, rendered, write

USE = 'skills writing from "skills"\n'
GOOD = "---\nname: writing\ndescription: How to write.\n---\nBe brief.\n"


def test_an_unquoted_colon_is_explained(tmp_path: Path) -> None:
    """The finding points into SKILL.md, at the value; the note says which case has the skill."""
    write(tmp_path, {"it/skills/writing/SKILL.md": GOOD.replace("How to write.", "Use it when: a text is wanted")},
          case=USE)

    assert """\
warning[W004]: skill `writing`: the value of `description` has a `: ` in it and is not quoted
 --> cases/s/it/skills/writing/SKILL.md:3:14
  |
3 | description: Use it when: a text is wanted
  |              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
note: the skill is named here
 --> cases/s/it/it.eval:2:8
  |
2 | skills writing from "skills"
  |        ^^^^^^^
  = YAML reads a second field there; write description: "…\"""" == rendered(tmp_path)


def test_a_good_skill(tmp_path: Path) -> None:
    """Nothing is said, with the reference validator either; a byte order mark and line ends of Windows do no harm."""
    write(tmp_path, {"it/skills/writing/SKILL.md": "\ufeff" + GOOD.replace("\n", "\r\n")}, case=USE)

    assert [] == places(tmp_path)


def test_a_finding_can_be_silenced_where_the_skill_is_named(tmp_path: Path) -> None:
    """`allow` in the case or the suite holds for the files that they name."""
    inner, outer = tmp_path / "inner", tmp_path / "outer"
    write(inner, {"it/skills/writing/SKILL.md": "no front matter"}, case=USE + 'allow W004 "an old form"\n')
    assert [] == places(inner)

    write(outer, {"skills/writing/SKILL.md": "no front matter"}, suite=USE + 'allow W004 "an old form"\n')
    assert [] == places(outer)


def test_a_skill_of_many_cases_is_told_once(tmp_path: Path) -> None:
    """Each SKILL.md under each name."""
    write(tmp_path, {"skills/writing/SKILL.md": "", "it.eval": 'case two { use app; prompt """Do."""; check run "make" '
                     'as a; allow W008 "later" }'}, suite=USE)

    assert ["cases/s/skills/writing/SKILL.md:1:1: W004: skill `writing`: the file has no front matter"] == \
        places(tmp_path)


@pytest.mark.parametrize(("text", "line", "message"), [
    ("", 1, "the file has no front matter"),
    ("# Title\n---\nname: writing\n---\n", 1, "the file has no front matter"),
    ("---\nname: writing\n", 1, "the front matter is not closed"),
    ("---\n- a\n---\n", 1, "the front matter holds no fields"),
    ("---\n---\n", 1, "the front matter holds no fields"),
    ("---\ndescription: d\n---\n", 1, "the front matter has no `name`"),
    ("---\nname: writing\n---\n", 1, "the front matter has no `description`"),
    ("---\nname: reading\ndescription: d\n---\n", 2, "its name is `reading`"),
    ("---\nname: writing\ndescription:\n---\n", 3, "`description` is not a text"),
    ("---\nname: writing\ndescription: 3\n---\n", 3, "`description` is not a text"),
    ("---\nname: writing\ndescription: " + "d" * 1025 + "\n---\n", 3, "`description` is longer than 1,024 characters"),
    ("---\nname: writing\ndescription: d\nversion: 2\n---\n", 4, "the specification has no field `version`"),
    ("---\nname: writing\ndescription: d\ncompatibility: " + "c" * 501 + "\n---\n", 4,
     "`compatibility` is longer than 500 characters"),
    ("---\nname: writing\n  description: d\n---\n", 3,
     "the front matter is no YAML: mapping values are not allowed here"),
    ("---\nname: writing\ndescription: [a\n---\n", 3, "the front matter is no YAML: expected ',' or ']', but got "
     "'<stream end>'"),
    ("---\nname: writing\ndescription: *a\n---\n", 3, "the front matter is no YAML: found undefined alias 'a'"),
    ("---\nname: writing\ndescription: d\nlicense: !!python/name:os.system x\n---\n", 4, "the front matter is no YAML: "
     "could not determine a constructor for the tag 'tag:yaml.org,2002:python/name:os.system'"),
    ("---\nname: writing\nlicense: see: LICENSE\ndescription: d\n---\n", 3,
     "the value of `license` has a `: ` in it and is not quoted"),
])
def test_what_is_wrong_in_a_front_matter(text: str, line: int, message: str) -> None:
    """Each with its line in SKILL.md."""
    assert [(line, message)] == [(text.count("\n", 0, problem.start) + 1, problem.message)
                                 for problem in problems(text, "writing")]


@pytest.mark.parametrize("name", ["Writing", "-writing", "wri--ting", "wri_ting", "w" * 65])
def test_names_that_no_skill_has(name: str) -> None:
    """Also where the case calls it so."""
    assert 1 == len(list(problems(f"---\nname: {name}\ndescription: d\n---\n", name)))


def test_nothing_hangs_or_raises() -> None:
    """Deep nesting, bombs of aliases and control characters are answered."""
    bomb = "a: &a [x]\n" + "".join(f"b{n}: &b{n} [*a, *a, *a]\n" for n in range(50))
    for block in ("[" * 5000, "{" * 5000, bomb, "\x07", "name: \x00", "? " * 3000, "- " * 5000, "9" * 5000 + ": 1"):
        assert list(problems(f"---\n{block}\n---\n", "writing"))


def test_the_reference_validator_is_asked_too(tmp_path: Path) -> None:
    """What it alone finds is told as well. It reads YAML more strictly."""
    pytest.importorskip("skills_ref")
    write(tmp_path, {"it/skills/writing/SKILL.md": GOOD.replace("---\nBe", "allowed-tools: [Read]\n---\nBe")}, case=USE)

    assert [("W004", 1)] == [(item.code, item.span.line) for item in findings(tmp_path)]


def test_without_the_reference_validator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Our own check is enough."""
    monkeypatch.setitem(sys.modules, "skills_ref.parser", None)
    write(tmp_path, {"it/skills/writing/SKILL.md": GOOD.replace("---\nBe", "allowed-tools: [Read]\n---\nBe")}, case=USE)

    assert [] == places(tmp_path)


def test_a_skill_that_is_not_utf8(tmp_path: Path) -> None:
    """It is told at the file's start."""
    write(tmp_path, {"it/skills/writing/SKILL.md": ""}, case=USE)
    (tmp_path / "cases/s/it/skills/writing/SKILL.md").write_bytes(b"---\nname: caf\xe9\n---\n")

    assert ["cases/s/it/skills/writing/SKILL.md:1:1: W004: skill `writing`: it is not UTF-8"] == places(tmp_path)
