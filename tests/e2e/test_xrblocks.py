"""The suite xrblocks: real packages, a real browser, models that are played in three formats.

What is played has no page check: its own proof and tests/e2e/test_page.py load pages.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from evalkit.analysis.model import Case, ScoreSpec
from evalkit.analysis.project import load_project
from evalkit.execute.places import Places
from evalkit.execute.toolchain import find_installed
from evalkit.gateway import Reply, Text
from evalkit.gateway.play import open_play
from evalkit.gateway.server import Server
from evalkit.grade.score_code import Code, read_code
from tests.e2e.conftest import REPOSITORY, RealProject
from tests.feature.project import PYPROJECT
from tests.feature.test_api import bodies, provider, temperature
from tests.sandbox import bwrap

pytestmark = pytest.mark.slow

SUITE = REPOSITORY / "cases/xrblocks"
MODELS = {"google/gemini-2.5-pro": "gemini", "openai/gpt-5.1": "openai", "anthropic/claude-sonnet-5": "anthropic"}
BOTH = "arm=with-skill,without-skill"


def made(root: Path) -> RealProject:
    (root / "scripts").mkdir(parents=True)
    (root / "pyproject.toml").write_text(PYPROJECT)
    (root / "dodo.py").write_text('"""A copy of the suite."""\n')
    shutil.copytree(SUITE, root / "cases/xrblocks")
    return RealProject(root)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> RealProject:
    """The suite in a project of its own, with its toolchain."""
    real = made(tmp_path_factory.mktemp("xrblocks") / "project")
    done = real.doit("run", "toolchain:xrblocks")
    assert 0 == done.status, done.err
    return real


@pytest.fixture
def played(tmp_path: Path, project: RealProject) -> RealProject:
    """The suite without its page check."""
    real = made(tmp_path / "project")
    suite = real.root / "cases/xrblocks/suite.eval"
    text, count = re.subn(r"check page .* time 40s", 'check exists "index.html" as smoke', suite.read_text())
    assert 1 == count
    suite.write_text(text)
    return real


def units(root: Path) -> list[Case]:
    """Of each case the unit on the first arm."""
    return [of_case[0] for of_case in load_project(root, "cases").units.values()]


def score_of(case: Case) -> ScoreSpec:
    return next(check.spec for check in case.checks if isinstance(check.spec, ScoreSpec))


def solution_of(root: Path, case: Case) -> tuple[str, Code]:
    text = (root / str(case.solution) / "main.js").read_text()
    return text, read_code(text, "javascript")


def evalkit(project: RealProject, *args: str, timeout: float = 3000) -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items()
           if not name.startswith("EVALKIT_") or name == "EVALKIT_CACHE"}
    env["EVALKIT_WORK"] = str(project.root.parent / "work")
    return subprocess.run([sys.executable, "-m", "evalkit.cli", *args], cwd=project.root, env=env, capture_output=True,
                          text=True, check=False, timeout=timeout)


# ---- the packages are the authority ----
@pytest.fixture(scope="module")
def packages(project: RealProject) -> Path:
    toolchain = units(project.root)[0].setup.toolchains[0]
    found = find_installed(Places.of(project.root, os.environ).cache, toolchain)
    assert found is not None
    return found.folder / "npm/node_modules"


def place_of(packages: Path, module: str) -> Path:
    """The file of a module, as the page's import map leads to it."""
    page = (SUITE / "templates/basic/index.html").read_text()
    found = re.search(r'<script type="importmap">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    imports = json.loads(found[1])["imports"]
    fitting = [name for name in imports if module == name or (name.endswith("/") and module.startswith(name))]
    name = max(fitting, key=len)
    return packages.parent / str(imports[name] + module.removeprefix(name)).removeprefix("./")


def exports_of(place: Path) -> set[str]:
    """The names that a module exports, those of the modules that it passes on included."""
    text = re.sub(r"/\*.*?\*/", "", place.read_text(), flags=re.DOTALL)
    found = {re.findall(r"[\w$]+", part)[-1] for names in re.findall(r"export\s*\{([^}]*)\}", text)
             for part in names.split(",") if part.strip()}
    found |= set(re.findall(r"export\s+(?:default\s+)?(?:async\s+)?(?:class|function|const|let|var)\s+([\w$]+)", text))
    for module in re.findall(r"export\s*\*\s*from\s*['\"](\.[^'\"]+)['\"]", text):
        found |= exports_of((place.parent / module).resolve())
    return found


def test_every_expected_import_and_name_exists(project: RealProject, packages: Path) -> None:
    """In the pinned packages: modules as files, what they export by name, members in their declarations and sources."""
    words: set[str] = set()
    for pattern in ("xrblocks/build/**/*.d.ts", "three/build/three.core.js", "@dimforge/**/*.d.ts"):
        for file in packages.glob(pattern):
            words.update(re.findall(r"[\w$]+", file.read_text()))
    cases = units(project.root)
    assert 20 <= len(cases)
    for case in cases:
        spec, (_, code) = score_of(case), solution_of(project.root, case)
        modules = {module: place_of(packages, module) for module in code.modules}
        assert all(place.is_file() for place in modules.values()), (case.name, modules)
        for name in spec.imports:
            assert code.imports(name), f"{case.name}: the reference answer does not import {name}"
        for api in spec.apis:
            module, mark, names = api.partition("#")
            first, *rest = (names if mark else api).split(".")
            if mark:
                own = [place for imported, place in modules.items() if imported == module
                       or imported.startswith(f"{module}/")]
                assert any(first in exports_of(place) for place in own), f"{case.name}: {module} exports no {first}"
            else:
                rest = [first, *rest]
            assert not (missing := [name for name in rest if name not in words]), f"{case.name}: {missing} of {api}"


def test_what_judges_are_told_is_what_the_packages_export(packages: Path) -> None:
    """exports.mjs, which prints the judges' context: names, and members of classes."""
    done = subprocess.run([packages.parents[1] / "bin/node", SUITE / "exports.mjs", packages], capture_output=True,
                          text=True, check=True, timeout=60)
    blocks = re.findall(r"^(xrblocks\S*):\n((?:  .*\n)+)", done.stdout, re.MULTILINE)
    assert 5 <= len(blocks)
    assert re.search(r"^class UIButton extends \w+: .*onClick", done.stdout, re.MULTILINE)
    for module, names in blocks:
        assert exports_of(place_of(packages, module)) == set(re.findall(r"[\w$]+", names)), module


# ---- proof ----
def test_all_cases_are_proven(project: RealProject) -> None:
    """References pass every check in real Chromium, nothing fails, wrong answers fail as their cases name it."""
    done = evalkit(project, "check", "cases/xrblocks", "--prove")
    assert 0 == done.returncode, done.stdout[-8000:] + done.stderr[-2000:]
    assert "25 of 25 proven" in done.stdout


def test_a_reference_passes_behind_walls(project: RealProject) -> None:
    """Parser, browser and all: the packages are found there, and the library's simulator runs."""
    bwrap()
    done = project.doit("run", "case:netblocks-presence", "agent=oracle", "lane=sandbox", "run=walls")
    assert 0 == done.status, done.out + done.err
    (place,) = project.root.glob("results/walls/oracle/netblocks-presence+with-skill/trial-1/screenshots/smoke.png")
    assert place.read_bytes().startswith(b"\x89PNG")


# ---- played ----
def rules_of(root: Path) -> list[dict[str, object]]:
    """With the contract in its system prompt the model gives the reference answer, else the first wrong one."""
    rules: list[dict[str, object]] = []
    for case in units(root):
        asked = r"\s+".join(re.escape(word) for word in case.prompt.split()[:8]).replace("/", "\\/")
        right, wrong = solution_of(root, case)[0], (root / case.wrongs[0].folder / "main.js").read_text()
        for when, code in (({"system": "What an answer is"}, right), ({}, wrong)):
            said = f"Here it is.\n\n```js\n{code}```\n".replace("{{", "\\{{")
            rules.append({"name": f"{case.name} {len(rules)}", "when": {"user": f"/{asked}/", **when}, "reply": said})
    return rules


def write_script(project: RealProject, name: str, rules: list[dict[str, object]]) -> str:
    (project.root / "scripts" / name).write_text(json.dumps({"script": 1, "rules": rules}))
    return f"gateway=scripts/{name}"


def test_three_formats_on_both_arms(played: RealProject) -> None:
    """Every task on both arms, each vendor's model in its own format; a summary, plots, and nothing asked twice."""
    formats: list[dict[str, object]] = [
        {"name": f"{model} in another format", "reply": {"status": 400, "message": "another format"},
         "when": {"model": f"*{model.partition('/')[2]}*", "not": {"protocol": protocol}}}
        for model, protocol in MODELS.items()]
    write_script(played, "model.yaml", [*formats, *rules_of(played.root)])
    played.env |= dict.fromkeys(("GEMINI_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"), "dummy-key-for-loopback")
    player = open_play(played.root / "scripts/model.yaml")
    with Server(player) as vendors:
        line = ("run", "suite:xrblocks", BOTH, f"model={','.join(MODELS)}", f"gateway={vendors.url}", "judge=off",
                "trials=1")
        done = played.doit(*line, timeout=2400)
        assert 1 == done.status, done.out[-3000:] + done.err[-3000:]
    assert 25 * 2 * 3 == player.answered
    again = played.doit(*line, timeout=600)  # nobody could answer
    assert (1, {}) == (again.status, again.ran)

    summary = json.loads((played.root / "results/latest/summary.json").read_bytes())
    lines = summary["trials"]
    assert 25 * 2 * 3 == len(lines)
    assert {(model, arm) for model in MODELS for arm in ("with-skill", "without-skill")} == {
        (line["model"], line["unit"].partition("+")[2]) for line in lines}
    assert all(line["status"] == "pass" for line in lines if line["unit"].endswith("+with-skill"))
    assert all(1.0 == line["measures"]["code"]["composite"] for line in lines if line["unit"].endswith("+with-skill"))

    told = evalkit(played, "arms", "--plots")
    assert 0 == told.returncode, told.stderr
    text = (played.root / "results/latest/arms.md").read_text()
    assert 3 == text.count("| composite | 1.00 | 0.")
    assert 3 * 2 + 1 == len(list((played.root / "results/latest/plots").glob("*.png")))


def test_an_ablation_finds_the_section_that_counts(played: RealProject) -> None:
    """A model that knows the right answer from one section alone: that section is worth something, and no other."""
    case = next(case for case in units(played.root) if case.name == "ui-button-hud")
    right, _ = solution_of(played.root, case)
    wrong = (played.root / case.wrongs[0].folder / "main.js").read_text()
    script = write_script(played, "section.yaml", [
        {"name": "knows", "when": {"system": "stays wherever the user looks"}, "reply": f"```js\n{right}```\n"},
        {"name": "guesses", "reply": f"```js\n{wrong}```\n"}])
    done = played.doit("run", "case:ui-button-hud", "arm=with-skill,ablate", script, "trials=3")
    assert 1 == done.status, done.err
    told = evalkit(played, "arms", "--plots").stdout
    parts = re.findall(r"^\| ([a-z-]+) \| 3 \| [\d.]+ \| (\S+) \| (.*) \|$", told, re.MULTILINE)
    assert [("choose-the-root", "+0.08", "")] == parts[:1]
    assert 4 == len(parts[1:])
    assert {("+0.00", "not told from 0")} == {(worth, said) for _, worth, said in parts[1:]}
    assert 1 == len(list((played.root / "results/latest/plots").glob("*ablation*.png")))


def test_judges_are_asked_where_that_is_said(played: RealProject) -> None:
    """On both arms they are told the contract, the case's own skill and what the packages export; their scores stand
    beside the composite score.
    """
    scores = [{"criterion": 1, "score": 9, "reason": "It fits."}, {"criterion": 2, "score": 7, "reason": "Mostly."}]
    judged: list[dict[str, object]] = [
        {"name": name, "when": {"tools": "record_scores", "user": [
            "What an answer is", "stays wherever the user looks", "class UIButton extends UIElement", wanted]},
         "reply": {"calls": [{"name": "record_scores", "input": {"scores": given}}]}}
        for name, wanted, given in (("fit", "life cycle is kept", scores), ("names", "do not exist", scores[:1]))]
    script = write_script(played, "judged.yaml", [*judged, *rules_of(played.root)])
    done = played.doit("run", "case:ui-button-hud", BOTH, script, "judge=on", "trials=1")
    assert 1 == done.status, done.err
    lines = json.loads((played.root / "results/latest/summary.json").read_bytes())["trials"]
    assert [{"fit": 8.0, "hallucination": 9.0}] * 2 == [line["scores"] for line in lines]
    assert "judge: fit" in evalkit(played, "arms").stdout


def test_a_key_and_a_model_of_the_environment(played: RealProject) -> None:
    """Three samples at temperature 0.2 of the model that GEMINI_MODEL names; where judges could be asked, none is."""
    case = next(case for case in units(played.root) if case.name == "ui-button-hud")
    with provider(Reply((Text(f"```js\n{solution_of(played.root, case)[0]}```\n"),))) as gateway:
        played.env |= {"GEMINI_API_KEY": "dummy-key-for-loopback", "GEMINI_MODEL": "gemini-2.5-flash",
                       "EVALKIT_GATEWAY": gateway.url}
        done = played.doit("run", "case:ui-button-hud")
        assert 0 == done.status, done.err + done.out
        asked = [request for request in gateway.requests if request.method == "POST"]
    assert ["gemini-2.5-flash"] * 3 == [name for request in asked for name in re.findall("gemini-[^:/]+", request.path)]
    assert [0.2] * 3 == [temperature(body) for body in bodies(gateway)]
    assert 3 == len(list((played.root / "results/latest/api/gemini-2.5-flash").glob("*/trial-*/result.json")))
