"""Agents and graders of other distributions in cases: how they are named, compiled and found missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalkit import plugins
from evalkit.analysis import load_project
from evalkit.analysis import model as m
from evalkit.digest import digest
from evalkit.errors import UserError
from evalkit.plan.choices import read_choices
from evalkit.plan.keys import grade_inputs
from evalkit.plugins import Plugin, find_plugin, plugin_names
from tests.unit.language.plugins import offer
from tests.unit.language.project import CASE, diagnose, write

SUITE = 'suite s { profile app { scaffold copy "skeleton" } }\n'


def project(tmp_path: Path, text: str) -> Path:
    write(tmp_path, {"cases/s/suite.eval": SUITE, "cases/s/it.eval": CASE.format(text)}, suite=None)
    return tmp_path


def compiled(root: Path) -> m.Case:
    return load_project(root).cases["it"]


def test_a_check_of_a_plug_in_is_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its settings by their names, whatever their order."""
    offer(monkeypatch)
    case = compiled(project(tmp_path, 'check plugin words { b "2"; files "x/**"; a "1" } as w'))
    spec = m.PluginSpec("words", ("x/**",), (("a", "1"), ("b", "2")))
    assert spec == case.checks[-1].spec
    assert 600 == spec.limit


def test_its_time_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It can be another one; that of most checks makes nobody's old verdict another one."""
    offer(monkeypatch)
    spec = compiled(project(tmp_path, "check plugin words time 90s as w")).checks[-1].spec
    assert m.PluginSpec("words", (), (), limit=90) == spec
    assert digest(m.PluginSpec("words", (), ())) == digest(m.PluginSpec("words", (), (), limit=600)) != digest(spec)


@pytest.mark.parametrize(("text", "code", "said"), [
    ("check plugin word", "E021", "no distribution that is installed has a grader `word` (did you mean `words`?)"),
    ('check plugin words { a "1"; a "2" }', "E031", "a check has one `a`"),
    ('check plugin words { files "../x" }', "E050", ""),
    ("check plugin words time 5s time 6s", "E031", "a check has one time limit"),
    ("use agent parot", "E024", "there is no agent `parot` (did you mean `parrot`?)"),
])
def test_what_is_wrong_is_told(text: str, code: str, said: str, tmp_path: Path,
                               monkeypatch: pytest.MonkeyPatch) -> None:
    """With what is installed as help."""
    offer(monkeypatch)
    found = diagnose(project(tmp_path, text))
    assert [code] == [error.code for error in found]
    assert said in f"{found[0].message} ({found[0].help})"


def test_an_agent_of_a_plug_in_is_selected_and_configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As evalkit's own are."""
    offer(monkeypatch)
    case = compiled(project(tmp_path, 'use agent parrot; agent parrot { env FILE = "a.txt"; suffix "Be brief." }'))
    assert m.AgentConfig("parrot", suffix="Be brief.", env=(("FILE", "a.txt"),)) == case.agent
    assert "parrot" == read_choices({"agent": "parrot"}, {}, None).agent


def test_ordinary_names_are_never_looked_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who uses no plug-in does not pay for them."""
    def asked(group: str) -> tuple[Plugin, ...]:
        raise AssertionError(f"{group} were looked up")

    monkeypatch.setattr(plugins, "_all", asked)
    compiled(project(tmp_path, 'use agent command; agent claude { mcp none }; check exists "a"'))
    for agent in ("auto", "claude", "api", "tools", "command", "oracle", "nop", "wrong:x", "replay:y", "command:z"):
        assert agent == read_choices({"agent": agent}, {}, None).agent


def test_two_distributions_that_offer_one_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody knows which one is meant."""
    offer(monkeypatch)
    both = (*plugins._all("graders"), plugins._all("graders")[0]._replace(distribution="other"))
    monkeypatch.setattr(plugins, "_all", lambda _: both)
    with pytest.raises(UserError, match="2 distributions offer the grader `words`: evalkit-wordy, other"):
        find_plugin("graders", "words")
    assert ["words"] == plugin_names("graders")
    assert find_plugin("graders", "none") is None


def test_a_grader_depends_on_what_it_may_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And on its version; without `files` on every file, on no toolchain."""
    offer(monkeypatch)
    case = compiled(project(tmp_path, 'check plugin words { files "*.md" } as some; check plugin words as all'))
    some, every = case.checks[-2:]

    def inputs(check: m.Check, version: str = "1", **tree: str) -> dict[str, str]:
        return grade_inputs(case, check, {name.replace("_", "."): text for name, text in tree.items()}, version,
                            "local", lambda _: "")

    assert inputs(some, a_md="1", b_txt="1") == inputs(some, a_md="1", b_txt="2")
    assert inputs(every, a_md="1", b_txt="1") != inputs(every, a_md="1", b_txt="2")
    assert inputs(some, a_md="1") != inputs(some, a_md="2")
    assert inputs(some, a_md="1") != inputs(some, "2", a_md="1")
    assert {"grader", "check", "final tree"} == set(inputs(every))
