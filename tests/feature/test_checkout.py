"""A toolchain that is a working copy where a variable names one: an edit of it runs again what was made with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.feature.project import MiniProject

TOOLCHAIN = """suite mini {
  toolchain greeter {
    env GREETER = "packaged"
    checkout env GREETER_REPO {
      build "sh build.sh" time 1m
      caches "out"
      hides "evals"
      program greet = "{checkout}/out/greet"
      env GREETER = "{checkout}"
    }
  }
"""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A program that prints a greeting, with evaluations of its own beside it."""
    folder = tmp_path / "greeter"
    (folder / "evals").mkdir(parents=True)
    (folder / "greet.in").write_text("#!/bin/sh\necho Hello\n")
    (folder / "evals/answer").write_text("Hello\n")
    (folder / "build.sh").write_text("mkdir -p out && cp greet.in out/greet && chmod +x out/greet\n")
    return folder


@pytest.fixture
def project(tmp_path: Path) -> MiniProject:
    project = MiniProject.make(tmp_path)
    suite = project.path("cases/mini/suite.eval")
    suite.write_text(suite.read_text().replace("suite mini {\n", TOOLCHAIN, 1))
    case = project.path("cases/mini/greeting/greeting.eval")
    case.write_text(case.read_text().replace(
        "  check not-empty as not-empty\n", '  check run "sh -c \'echo $GREETER; greet\'" as greeted\n'))
    return project


def test_an_edit_of_the_checkout_runs_what_was_made_with_it(project: MiniProject, copy: Path) -> None:
    project.env["GREETER_REPO"] = str(copy)
    done = project.doit("run", "case:greeting")
    assert done.status == 0, done.err
    assert f"building {copy}" in done.err
    assert {} == project.doit("run", "case:greeting").ran
    (copy / "evals/answer").write_text("Hi\n")  # what nobody sees
    assert {} == project.doit("run", "case:greeting").ran
    (copy / "greet.in").write_text("#!/bin/sh\nexit 3\n")
    edited = project.doit("run", "case:greeting")
    assert edited.status == 1, edited.err
    assert {"toolchain", "grade greeted"} <= set(edited.ran)
    assert "toolchain greeter changed" in edited.ran["grade greeted"]
    assert "grade greets" not in edited.ran


def test_without_the_variable_it_is_another_toolchain(project: MiniProject, copy: Path) -> None:
    """And with one that names nothing the run does not begin."""
    done = project.doit("run", "case:greeting")
    assert done.status == 1, done.err  # there is no greet
    project.env["GREETER_REPO"] = str(copy)
    assert project.doit("run", "case:greeting").status == 0
    project.env["GREETER_REPO"] = str(copy / "nowhere")
    gone = project.doit("run", "case:greeting")
    assert gone.status == 2
    assert "there is no such folder" in gone.err
