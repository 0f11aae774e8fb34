"""How the levels of a project come together in a case."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalkit.analysis import load_project
from evalkit.analysis import model as m
from evalkit.analysis.resolve import resolve
from evalkit.digest import canonical, digest
from evalkit.errors import UserError
from tests.unit.language.project import CASE, SUITE, compile_case, diagnose, write

LEVELS = """suite s {
  scaffold copy "skeleton"
  caches "suite"
  limits { turns 1; time 1m }
  model "suite"
  use agent nop
  agent claude { allow A; deny D; env X = "suite"; env Y = "suite"; suffix "suite" }
  check run "suite"
  profile base {
    scaffold run "base {workspace}"
    skills writing from "skills"
    prewarm "base"
    caches "base"
    starter "wrong/one"
    limits { turns 2 }
    check run "base"
  }
  profile app extends base {
    skills reading by "get {skill}"
    prewarm "app one", "app two" time 3m
    caches "app", "app/deep/"
    use agent oracle
    check run "app"
  }
}
"""


def with_levels(root: Path, statements: str) -> m.Case:
    text = f'case it {{ prompt "PROMPT.md"; use app\n{statements}\n}}'
    return load_project(write(root, {"cases/s/it.eval": text}, suite=LEVELS)).cases["it"]


def test_an_inner_level_replaces(tmp_path: Path) -> None:
    """Scaffold, skills, prewarm, caches, starter and the agent are those of the innermost level that has any."""
    case = with_levels(tmp_path, "")

    assert m.Command(("base", "{workspace}"), 600) == case.setup.scaffold.command
    assert [("reading", m.Command(("get", "{skill}"), 600), None)] == [
        (skill.name, skill.command, skill.folder) for skill in case.setup.skills]
    assert (m.Command(("app", "one"), 180), m.Command(("app", "two"), 180)) == case.setup.prewarm
    assert ("app", "app/deep") == case.setup.caches
    assert "cases/s/wrong/one" == case.setup.starter
    assert "oracle" == case.agent.name
    assert m.Limits(2, 60) == case.limits
    assert m.ModelChoice(None, "suite") == case.model


def test_the_case_is_the_innermost_level(tmp_path: Path) -> None:
    """What the case says wins over its profile and its suite."""
    case = with_levels(tmp_path, """
        scaffold copy "solution"; skills none; prewarm "mine"; caches "mine"; starter "wrong/two"
        limits { time 5s }; use agent claude; model env V else "mine"; judge-model "judge"
        """)

    assert (None, "cases/s/solution") == (case.setup.scaffold.command, case.setup.scaffold.folder)
    assert () == case.setup.skills
    assert (m.Command(("mine",), 600),) == case.setup.prewarm
    assert ("mine",) == case.setup.caches
    assert "cases/s/wrong/two" == case.setup.starter
    assert m.Limits(2, 5) == case.limits
    assert "claude" == case.agent.name
    assert (m.ModelChoice("V", "mine"), m.ModelChoice(None, "judge")) == (case.model, case.judge_model)


def test_checks_of_all_levels_are_added_outermost_first(tmp_path: Path) -> None:
    """A case is graded by its suite's, its profiles' and its own checks."""
    case = with_levels(tmp_path, 'check run "case"')

    assert ["suite", "base", "app", "case"] == [
        check.spec.command.words[0] for check in case.checks if isinstance(check.spec, m.RunSpec)]


def test_what_an_agent_may_do_is_added_and_its_suffix_is_replaced(tmp_path: Path) -> None:
    """Rules add up without repeating themselves, a variable and the suffix are the innermost one's."""
    case = with_levels(tmp_path, """
        use agent claude
        agent claude { allow B, A; deny "D *"; env Y = "case"; suffix "case" }
        agent nop { allow C }
        """)

    assert m.AgentConfig("claude", ("A", "B"), ("D", "D *"), "case", (("X", "suite"), ("Y", "case"))) == case.agent


def test_statements_of_one_level_add_up(tmp_path: Path) -> None:
    """Two `skills` of one block give the skills of both."""
    case = compile_case(tmp_path, 'skills writing from "skills"; skills one from "one-skill"\ncaches "a"; caches "b"')

    assert ["cases/s/skills/writing", "cases/s/one-skill"] == [skill.folder for skill in case.setup.skills]
    assert ("a", "b") == case.setup.caches


def test_skills_may_be_linked(tmp_path: Path) -> None:
    """By the statement, so that of two in a block one is a copy; without the word nothing is another digest."""
    case = compile_case(tmp_path, 'skills writing from "skills" linked; skills one from "one-skill"')
    assert [("writing", True), ("one", False)] == [(skill.name, skill.linked) for skill in case.setup.skills]
    assert [True, False] == ["linked" in canonical(skill) for skill in case.setup.skills]


def test_without_a_word_the_defaults_hold(tmp_path: Path) -> None:
    """80 turns, 20 minutes, Claude Code, no skill, no starter, no answer."""
    case = compile_case(tmp_path)

    assert m.Limits(80, 1200) == case.limits
    assert m.AgentConfig("claude") == case.agent
    assert ("anthropic/claude-sonnet-5", "anthropic/claude-opus-4.8") == (case.model.default, case.judge_model.default)
    assert ((), None, (), ()) == (case.setup.skills, case.setup.starter, case.setup.prewarm, case.setup.toolchains)
    assert (None, (), "") == (case.solution, case.wrongs, case.profile)
    assert "Do it.\n" == case.prompt


def test_use_none_is_no_profile(tmp_path: Path) -> None:
    """Only the suite's level is around the case."""
    case = compile_case(tmp_path, 'use none; caches "a"', suite='suite s { limits { turns 7 }; profile app { } }')

    assert ("", 7) == (case.profile, case.limits.turns)


def test_the_nearest_suite_is_the_cases_own(tmp_path: Path) -> None:
    """A suite.eval in an inner folder holds alone: it takes nothing from the one above."""
    write(tmp_path, {
        "cases/s/in/suite.eval": 'suite inner { about "In."; scaffold run "inner" }',
        "cases/s/in/deep/it.eval": 'case inside { about "One."; prompt """x"""; check run "a" }',
        "cases/s/out.eval": CASE.format("").replace("case it", "case outside"),
    })
    project = load_project(tmp_path)

    assert {"outside": "s", "inside": "inner"} == {case.name: case.suite.name for case in project.cases.values()}
    assert ["inside"] == [case.name for case in project.cases_of("inner")]
    inside = project.cases["inside"]
    assert ("cases/s/in/deep", "One.", "In.") == (inside.folder, inside.about, project.suites["inner"].about)
    assert "cases/s/in/deep/it.eval:1:1" == inside.origin


def test_a_check_is_named_by_as_else_by_its_content(tmp_path: Path) -> None:
    """A made id changes with what the check looks for, and with nothing else."""
    case = compile_case(tmp_path, """
        check grep "a" has "b" as found "described"
        check grep "a" has "c"
        check plain "described"
        judge "taste" { files "a"; criterion "b" }
        """)
    named, grep, plain = case.checks[1:]

    assert ("found", "described", "grep") == (named.id, named.description, named.kind)
    assert f"grep-{digest(m.GrepSpec(('a',), 'has', (m.Pattern('c'),)))[:6]}" == grep.id
    assert ("plain", "described") == (plain.kind, plain.description)
    assert f"judge-{digest('taste')[:6]}" == case.judges[0].id


def test_a_defined_check_takes_its_arguments_in_order_and_its_description_last(tmp_path: Path) -> None:
    """The strings behind the name are the parameters' values; the one more is the description."""
    suite = """suite s { define check two(a, b) "its own words" {
      append "x/{b}" "{a}"
      each "*.{b}" run "cmp {a} {file} {b}" time 1m
      run "run {b} {{b}"
    } }"""
    first, second = compile_case(tmp_path, 'check two "o n e" "{file}" time 9s\ncheck two "1" "2" "told" as x',
                                 suite=suite).checks[1:]

    assert ("its own words", "told") == (first.description, second.description)
    assert m.StepsSpec((
        m.Append("x/{file}", "{a}"),
        m.Each("*.{file}", m.Command(("cmp", "o n e", "{file}", "{{file}"), 60)),
        m.Run(m.Command(("run", "{{file}", "{{b}"), 9)),
    )) == first.spec


def test_a_defined_check_puts_files_of_the_suite_and_of_the_case(tmp_path: Path) -> None:
    """`{case}` is the folder of the case, wherever the check is asked for; other paths are the suite's."""
    suite = """suite s {
      define check harness(spec) { put "{case}/{spec}" as "a"; put "skeleton" as "b"; run "true" }
      profile app { check harness "spec.txt"; scaffold copy "skeleton" }
    }"""
    write(tmp_path, {"cases/s/in/it.eval": 'case it { prompt "../PROMPT.md"; use app }', "cases/s/in/spec.txt": ""},
          suite=suite)
    [check] = load_project(tmp_path).cases["it"].checks

    assert m.StepsSpec((m.Put("cases/s/in/spec.txt", "a"), m.Put("cases/s/skeleton", "b"),
                        m.Run(m.Command(("true",), 600)))) == check.spec


def test_options_of_a_check(tmp_path: Path) -> None:
    """Lanes, advisory and a time limit; flags of a regex in a fixed order."""
    run, grep = compile_case(tmp_path, """
        check run "a 'b c'" time 5s advisory on macos-local, sandbox
        check grep "a" lacks "b", /c/sis
        """).checks[1:]

    assert (m.RunSpec(m.Command(("a", "b c"), 5)), ("macos-local", "sandbox"), True) == (
        run.spec, run.lanes, run.advisory)
    assert m.GrepSpec(("a",), "lacks", (m.Pattern("b"), m.Pattern("c", True, "is"))) == grep.spec


@pytest.mark.parametrize(("passes", "threshold", "advisory"), [
    ("", None, True), ("pass at 6", 6, False), ("pass at 6, advisory", 6, True), ("pass at 6; advisory", 6, True),
    ("advisory", None, True), ("pass at 0", 0, False),
])
def test_a_judge_decides_only_with_a_threshold(passes: str, threshold: int | None, advisory: bool,
                                               tmp_path: Path) -> None:
    """Without `pass at`, or with `advisory`, its score is told and decides nothing."""
    text = f'judge "t" as j {{ files "a", "b"; criterion "c"; context "d"; {passes} }}'
    [judge] = compile_case(tmp_path, text).judges

    assert m.Judge("j", "t", ("a", "b"), threshold, advisory, ("c",), ("d",), "cases/s/it.eval:2:1") == judge


def test_answers(tmp_path: Path) -> None:
    """A wrong answer goes by the last part of its path, and names the checks that must reject it."""
    case = compile_case(tmp_path, """
        solution "solution"
        wrong "wrong/one" fails a
        wrong "wrong/two/" fails a, b
        check run "x" as a; check run "y" as b
        """)

    assert "cases/s/solution" == case.solution
    assert [("one", "cases/s/wrong/one", ("a",)), ("two", "cases/s/wrong/two", ("a", "b"))] == [
        (wrong.name, wrong.folder, wrong.fails) for wrong in case.wrongs]


def test_a_toolchain_is_the_suites(tmp_path: Path) -> None:
    """Its pins and its environment come with every case."""
    case = compile_case(tmp_path, suite="""suite s { toolchain t {
      npm "@a/b@1", "c@2"; pip "d==3"; npm "e@4"; program p = "{pip}/d"; env E = "{npm}"
    } }""")

    [toolchain] = case.setup.toolchains
    assert m.Toolchain("t", ("@a/b@1", "c@2", "e@4"), ("d==3",), (("p", "{pip}/d"),), (("E", "{npm}"),),
                       "cases/s/suite.eval:1:11") == toolchain


def test_a_link_within_the_suite_is_fine_and_one_out_of_it_is_not(tmp_path: Path) -> None:
    """Where a link leads decides, not where it lies."""
    write(tmp_path, {"cases/s/it.eval": CASE.format('solution "inner-link"')})
    (tmp_path / "cases/s/inner-link").symlink_to("solution")
    assert "cases/s/solution" == load_project(tmp_path).cases["it"].solution

    (tmp_path / "cases/s/inner-link").unlink()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "cases/s/inner-link").symlink_to("../../elsewhere")
    assert [("E041", "`inner-link` leads outside the suite's folder")] == [
        (error.code, error.message) for error in diagnose(tmp_path)]


def test_the_cases_folder_may_be_a_link(tmp_path: Path) -> None:
    """Paths are given by their place in the project, wherever the folder really lies."""
    write(tmp_path / "real", {"cases/s/it.eval": CASE.format('solution "solution"')})
    (tmp_path / "project").mkdir()
    (tmp_path / "project/cases").symlink_to(tmp_path / "real/cases")
    case = load_project(tmp_path / "project").cases["it"]

    assert ("cases/s/solution", "cases/s/skeleton") == (case.solution, case.setup.scaffold.folder)


def test_equal_projects_in_two_places_are_equal(tmp_path: Path) -> None:
    """Nothing of a compiled case says where the project lies."""
    text = 'solution "solution"; starter "wrong/one"; skills one from "one-skill"'

    assert compile_case(tmp_path / "a", text) == compile_case(tmp_path / "b/c", text)


def test_errors_of_an_unused_profile_are_found(tmp_path: Path) -> None:
    """A suite is checked as a whole, and what is met by several cases is told once."""
    suite = SUITE.rstrip("}\n") + '}\nprofile other { starter "gone" }\ncheck run "{nothing}"\n}'
    text = CASE.format("") + CASE.replace("case it", "case other").format("")
    write(tmp_path, {"cases/s/it.eval": text}, suite=suite)

    assert ["`gone` does not exist", "there is no `{nothing}` here"] == sorted(
        error.message for error in diagnose(tmp_path))


def test_errors_of_syntax_come_without_their_echoes(tmp_path: Path) -> None:
    """While a file does not parse, names that it may declare are not reported as missing."""
    write(tmp_path, {"cases/s/it.eval": CASE.format("use nothing")}, suite="suite s { profil app { } }")

    assert ["E010"] == [error.code for error in diagnose(tmp_path)]


def test_a_project_without_cases(tmp_path: Path) -> None:
    """A missing folder is the person's mistake; an empty one is a project with nothing in it."""
    with pytest.raises(UserError, match="there is no folder `cases`"):
        load_project(tmp_path)
    (tmp_path / "evals").mkdir()
    assert {} == load_project(tmp_path, "evals").cases
    assert ({}, {}, []) == resolve(tmp_path, [])




def test_an_agent_that_the_case_does_not_select_has_its_own_configuration(tmp_path: Path) -> None:
    """Its block, or what holds for any agent; never another one's."""
    case = compile_case(tmp_path, '''
        temperature 0.5; env ANY = "1"
        agent claude { allow "Bash(ls *)"; env OWN = "2" }
        agent command { command "mine {workspace}"; suffix "Be brief." }
        ''')
    common = (("ANY", "1"),)
    assert m.AgentConfig("claude", ("Bash(ls *)",), env=(*common, ("OWN", "2")),
                         temperature=0.5) == case.configured_for("claude")
    assert m.AgentConfig("command", suffix="Be brief.", env=common, temperature=0.5, command=m.Command(
        ("mine", "{workspace}"), 600)) == case.configured_for("command")
    assert m.AgentConfig("api", env=common, temperature=0.5) == case.configured_for("api")


def test_a_case_that_says_nothing_of_agents_grew_nothing(tmp_path: Path) -> None:
    """Digests of old cases stay as they are."""
    case = compile_case(tmp_path)
    assert () == case.other_agents
    assert m.AgentConfig("api") == case.configured_for("api")
