"""The example of examples/plugin, built, installed into a folder of its own, and run as a person would."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.feature.project import MiniProject, on_path

ROOT = Path(__file__).resolve().parents[2]
SUITE, CASE = "cases/mini/suite.eval", "cases/mini/greeting/greeting.eval"
CHECK = '  check plugin words { files "*.txt"; at-least "2" } as long-enough "it says something"\n'


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the plug-in, as pip makes it, without any network."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation",
                           "--no-index", "--disable-pip-version-check", "--target", str(folder),
                           str(ROOT / "examples/plugin")], capture_output=True, text=True, check=False)
    assert 0 == done.returncode, done.stderr
    return folder


@pytest.fixture
def project(tmp_path: Path, site: Path) -> MiniProject:
    """A project whose case has a check of the plug-in's, in an environment that has the plug-in."""
    project = MiniProject.make(tmp_path)
    project.edit(CASE, '  solution "solution"\n', f'{CHECK}  solution "solution"\n')
    project.env["PYTHONPATH"] = on_path(site)
    return project


def grade(project: MiniProject, agent: str) -> dict[str, str]:
    place = project.path(f"results/latest/{agent}/greeting/trial-1/grades/long-enough.json")
    verdict: dict[str, str] = json.loads(place.read_text())["verdict"]
    return verdict


def test_an_agent_and_a_grader_of_another_distribution(project: MiniProject) -> None:
    """Both work like evalkit's own; their versions are in the result; a second run does nothing."""
    project.edit(CASE, "Write a greeting", "Say hello: write a greeting")
    done = project.doit("run", "case:greeting", "agent=parrot")
    assert 0 == done.status, done.err + done.out
    assert "at least 2 words in each of 3 files" == grade(project, "parrot")["summary"]
    result = json.loads(project.path("results/latest/parrot/greeting/trial-1/result.json").read_text())
    assert "evalkit-wordy 0.1.0 1" == result["agent_version"]
    inputs = json.loads(project.path("results/latest/parrot/greeting/trial-1/grades/long-enough.json").read_text())
    assert "evalkit-wordy 0.1.0 1" == inputs["inputs"]["grader"]
    assert {} == project.doit("run", "case:greeting", "agent=parrot").ran

    project.edit(CASE, 'at-least "2"', 'at-least "20"')
    done = project.doit("run", "case:greeting", "agent=parrot")
    assert (1, {"grade long-enough", "result", "report"}) == (done.status, set(done.ran))
    assert "answer.txt" in grade(project, "parrot")["summary"]


def test_the_other_commands_know_it(project: MiniProject) -> None:
    """It is formatted, linted, shown and proven like any other check."""
    project.edit(CASE, CHECK, CHECK.replace("{ files", "{files").replace("; at", ";    at"))
    text = {}
    for command in ("fmt", "check", "show greeting", "check --prove"):
        done = subprocess.run([sys.executable, "-m", "evalkit.cli", *command.split()], cwd=project.root, text=True,
                              env=project.environ, capture_output=True, check=False)
        assert 0 == done.returncode, done.stdout + done.stderr
        text[command] = done.stdout
    assert CHECK in project.read(CASE)
    assert 'at-least = "2"' in text["show greeting"]
    assert "long-enough" in text["check --prove"]


def test_another_version_of_it_grades_again(project: MiniProject, site: Path, tmp_path: Path) -> None:
    """The agent's, too; what was up to date in one look is looked at again."""
    mine = tmp_path / "site"
    shutil.copytree(site, mine)
    project.env["PYTHONPATH"] = on_path(mine)
    project.doit("run", "case:greeting", "agent=oracle")
    assert {} == project.doit("run", "case:greeting", "agent=oracle").ran
    module = mine / "evalkit_wordy/words.py"
    module.write_text(module.read_text().replace('VERSION = "1"', 'VERSION = "2"'))
    done = project.doit("run", "case:greeting", "agent=oracle")
    assert "grader evalkit-wordy 0.1.0 1 → evalkit-wordy 0.1.0 2" == done.ran["grade long-enough"]
    shutil.move(mine / "evalkit_wordy-0.1.0.dist-info", mine / "evalkit_wordy-0.2.0.dist-info")
    metadata = mine / "evalkit_wordy-0.2.0.dist-info/METADATA"
    metadata.write_text(metadata.read_text().replace("Version: 0.1.0", "Version: 0.2.0"))
    done = project.doit("run", "case:greeting", "agent=oracle")
    assert "grader evalkit-wordy 0.1.0 2 → evalkit-wordy 0.2.0 2" == done.ran["grade long-enough"]


def test_a_setting_that_breaks_it_is_no_fail_of_the_agents(project: MiniProject) -> None:
    """An error names the distribution; status 3; other checks stand, and the next run tries again."""
    project.edit(CASE, 'at-least "2"', 'at-least "two"')
    done = project.doit("run", "case:greeting", "agent=oracle")
    assert 3 == done.status, done.err + done.out
    assert "error" == grade(project, "oracle")["status"]
    assert grade(project, "oracle")["summary"].startswith(
        "the grader `words` of the distribution evalkit-wordy 0.1.0 failed: ValueError")
    assert "grade long-enough" in project.doit("run", "case:greeting", "agent=oracle").ran


def test_one_that_an_answer_hangs_is_ended(project: MiniProject, site: Path, tmp_path: Path) -> None:
    """By its time limit, which is named: an error and no fail; the other checks have their verdicts."""
    mine = tmp_path / "site"
    shutil.copytree(site, mine)
    project.env["PYTHONPATH"] = on_path(mine)
    module = mine / "evalkit_wordy/words.py"
    module.write_text(module.read_text().replace("    wanted =", "    while 'Hello' in files.text('answer.txt'): pass\n"
                                                 "    wanted =", 1))
    project.edit(CASE, '} as long-enough', '} time 2s as long-enough')
    done = project.doit("run", "case:greeting", "agent=oracle")
    assert 3 == done.status, done.err + done.out
    verdict = grade(project, "oracle")
    assert "error" == verdict["status"]
    assert verdict["summary"].endswith("evalkit-wordy 0.1.0 was ended by its time limit of 2 s")
    assert "✓✓✓✓!" in done.out
    assert 1 == project.doit("run", "case:greeting", "agent=wrong:rude").status


@pytest.mark.parametrize("before", [True, False])
def test_without_it_the_case_says_so(before: bool, project: MiniProject, site: Path, tmp_path: Path) -> None:
    """Whether it was there before or not: no old verdict stands in for a grader that was uninstalled."""
    mine = tmp_path / "site"
    shutil.copytree(site, mine)
    project.env["PYTHONPATH"] = on_path(mine)
    if before:
        assert 0 == project.doit("run", "case:greeting", "agent=oracle").status
    shutil.rmtree(mine)
    done = project.doit("run", "case:greeting", "agent=oracle")
    assert (3 if before else 2) == done.status
    assert "no distribution that is installed has a grader `words`" in done.err + done.out
    project.edit(CASE, CHECK, "")
    done = project.doit("run", "case:greeting", "agent=parrot")
    assert (2, True) == (done.status, "`agent=parrot` (from the command line) is not valid" in done.err)


@pytest.mark.parametrize(("end", "said"), [
    ('Ending("great", "done", Usage())', "returned an ending that is none: status"),
    ("__import__('sys').exit(0)", "failed: SystemExit: 0"),
])
def test_a_plug_in_whose_end_is_none_leaves_nothing(end: str, said: str, project: MiniProject, site: Path,
                                                    tmp_path: Path) -> None:
    """Told as its distribution's, status 3; once it is mended its agent runs."""
    mine = tmp_path / "site"
    shutil.copytree(site, mine)
    project.env["PYTHONPATH"] = on_path(mine)
    module = mine / "evalkit_wordy/parrot.py"
    right = module.read_text()
    module.write_text(f"{right}\n\nfrom evalkit.extend import Ending, Usage\nParrot.run = lambda self, job: {end}\n")
    done = project.doit("run", "case:greeting", "agent=parrot")
    assert 3 == done.status, done.err + done.out
    assert f"the agent `parrot` of the distribution evalkit-wordy 0.1.0 {said}" in done.err
    assert [] == list(project.path(".evalkit/store/agent").rglob("agent.json"))
    module.write_text(right)
    assert 0 <= project.doit("run", "case:greeting", "agent=parrot").status <= 1
    assert 1 == len(list(project.path(".evalkit/store/agent").rglob("agent.json")))


def test_a_plug_in_that_cannot_be_loaded_names_its_distribution(project: MiniProject, site: Path,
                                                                tmp_path: Path) -> None:
    """As an agent it is a mistake of who installed it: status 2, before anything runs."""
    mine = tmp_path / "site"
    shutil.copytree(site, mine)
    project.env["PYTHONPATH"] = on_path(mine)
    (mine / "evalkit_wordy/parrot.py").write_text("import no_such_module_anywhere\n")
    done = project.doit("run", "case:greeting", "agent=parrot")
    assert 2 == done.status, done.err
    assert "the agent `parrot` of the distribution evalkit-wordy 0.1.0 cannot be loaded: ModuleNotFound" in done.err
