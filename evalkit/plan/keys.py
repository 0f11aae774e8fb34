"""What decides whether a task runs again: its inputs, by name, each as a digest or a short text.

A task's key is the digest of its inputs. Only what a task really reads is an input: the oracle reads no prompt, a grep
reads the files that its globs match and nothing else of the tree, nothing reads a comment, an `about` or a time stamp.
Two tasks with equal keys have equal outcomes, whatever they are called and on whatever checkout they run.

Paths of the project are given as digests of what they hold, through `Contents`.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from evalkit.analysis.globs import matching
from evalkit.analysis.model import (
    AgentConfig,
    CallsSpec,
    Case,
    Check,
    ExistsSpec,
    GrepSpec,
    HiddenTestsSpec,
    Judge,
    PluginSpec,
    Put,
    ScoreSpec,
    Setup,
    SnapshotSpec,
    StateSpec,
    StepsSpec,
    Toolchain,
    TranscriptSpec,
)
from evalkit.analysis.placeholders import project_files
from evalkit.digest import digest
from evalkit.plan.trials import SHARED_SKILLS, SKILLS_FOLDER, Trial
from evalkit.values import Value

__all__ = ["ABSENT", "PLAYED_BY", "SAMPLE", "STATE_FILE", "Contents", "Held", "Inputs", "Shows", "agent_inputs",
           "answer_inputs", "changes", "grade_inputs", "judge_inputs", "question_inputs", "template_inputs",
           "toolchain_inputs", "warm_inputs", "workspace_inputs"]

Inputs: TypeAlias = dict[str, str]
Contents: TypeAlias = Callable[[str], str]
"""The digest of a file or folder of the project; an absent one has a digest of its own."""

Held: TypeAlias = Callable[[str], Mapping[str, str] | None]
"""What a folder with this digest held: its files, each with what tells contents apart; None: not known."""


class Shows(Value):
    """Why apps are not shown, "" where they are, and in what: the image's digest, or the system."""

    cannot: str
    where: str = ""


PLAYED_BY = "played by"
"""The input that tells what played a model's part."""
SAMPLE = "sample"
"""The input that tells a further sample of an agent run; the first has none."""
ABSENT = "absent"
"""The digest of a file or folder that is not there."""
STATE_FILE = "state.json"
"""Where the state of an application is in a final tree."""

_SHOWN = 40
"""Characters of a value that is shown; digests are longer."""
_FILES = 3
"""Files of a folder that are named."""
_IMPLIED = {"votes": ("judge model", "1")}
"""Inputs that are left out where they have this value: whose inputs that is so of, and the value."""

LAYOUT = "1"
"""Raised when evalkit itself would make another toolchain, template or workspace from equal inputs."""


def toolchain_inputs(toolchain: Toolchain) -> Inputs:
    return {
        "layout": LAYOUT,
        "npm pins": digest(toolchain.npm),
        "pip pins": digest(toolchain.pip),
        "programs": digest(toolchain.programs),
        "environment": digest(toolchain.env),
        "platform": f"{platform.system()} {platform.machine()}",
        **({"checkout's build": digest([toolchain.checkout.build, toolchain.checkout.hides]),
            "checkout": toolchain.checkout.tree} if toolchain.checkout else {}),
    }


def _toolchains(setup: Setup) -> Inputs:
    """What commands of a set-up have: programs, and what they may reach."""
    found = {f"toolchain {toolchain.name}": digest(toolchain_inputs(toolchain)) for toolchain in setup.toolchains}
    return found | ({"network": digest(sorted(setup.network))} if setup.network else {})


def template_inputs(setup: Setup, contents: Contents, lane: str = "local") -> Inputs:
    """Of a template. lane: where its command runs: what is only copied is the same everywhere."""
    scaffold = setup.scaffold
    if scaffold.folder is not None:
        return {"layout": LAYOUT, f"scaffold {scaffold.folder}": contents(scaffold.folder)}
    return {"layout": LAYOUT, **_toolchains(setup), "scaffold command": digest(scaffold.command),
            "caches": digest(setup.caches), **_lane(lane)}


def _lane(lane: str) -> Inputs:
    """The lane as an input of what was once made in the local one alone."""
    return {} if lane == "local" else {"lane": lane}


def workspace_inputs(setup: Setup, contents: Contents, skills_folder: str = SKILLS_FOLDER,
                     lane: str = "local") -> Inputs:
    """Of a workspace. skills_folder: where in it skills are put."""
    inputs = {"layout": LAYOUT, "template": digest(template_inputs(setup, contents, lane))}
    if setup.starter is not None:
        inputs[f"starter {setup.starter}"] = contents(setup.starter)
    for skill in setup.skills:
        if skill.folder is not None:
            inputs[f"skill {skill.name}"] = contents(skill.folder)
            if skill.linked:
                inputs[f"link to skill {skill.name}"] = SHARED_SKILLS
        else:
            inputs[f"skill {skill.name}"] = digest(skill.command)
            inputs |= _toolchains(setup) | _lane(lane)
    if setup.skills and skills_folder != SKILLS_FOLDER:
        inputs["skills folder"] = skills_folder
    return inputs


def warm_inputs(setup: Setup, contents: Contents, lane: str) -> Inputs:
    """Of a prewarm that trials share: what it builds, and with what. Skills are not built."""
    inputs = {"layout": LAYOUT, "template": digest(template_inputs(setup, contents, lane)), "lane": lane,
              "prewarm": digest(setup.prewarm), "caches": digest(setup.caches), **_toolchains(setup)}
    if setup.starter is not None:
        inputs[f"starter {setup.starter}"] = contents(setup.starter)
    return inputs


def agent_inputs(trial: Trial, contents: Contents) -> Inputs:
    case, traits = trial.case, trial.traits
    inputs = {
        "workspace": digest(workspace_inputs(case.setup, contents, traits.skills_folder, trial.lane)),
        "agent": trial.subject.agent,
        "agent version": traits.version,
        "lane": trial.lane,
    }
    if trial.dry:
        inputs["dry"] = "1"
    if trial.answer is not None:
        inputs[f"answer {trial.answer}"] = contents(trial.answer)
    if (spec := trial.plays) is not None:
        inputs["expected calls"] = digest(spec.sequences)
        inputs |= _configured(case.agent, contents)
    inputs |= {what: contents(path) for what, path in trial.given}
    if "prompt" in traits.reads:
        inputs["prompt"] = digest(case.prompt)
        inputs["prompt suffix"] = digest(case.agent.suffix)
        inputs |= _reading(case.setup, contents)
    if "model" in traits.reads:
        inputs["model"] = trial.subject.model or ""
        inputs |= _given({"temperature": case.agent.temperature, "seed": case.agent.seed})
    if "tools" in traits.reads:
        inputs["allow list"] = digest(case.agent.allow)
        inputs["deny list"] = digest(case.agent.deny)
        inputs["agent environment"] = digest(case.agent.env)
        inputs |= _configured(case.agent, contents)
    if "limits" in traits.reads:
        inputs["turn limit"] = str(case.limits.turns)
    if {"limits", "spending"} & traits.reads:
        inputs |= _given({"cost limit": case.limits.cost, "token limit": case.limits.tokens})
    if {"limits", "time"} & traits.reads:
        inputs["time limit"] = str(case.limits.time)
    if traits.builds:
        inputs["prewarm"] = digest(case.setup.prewarm)
        inputs |= _toolchains(case.setup)
    if traits.sampled:
        inputs |= _given({"arm": case.arm})  # two arms that ask the same are two samples
        inputs["trial"] = str(trial.number)
        if trial.run not in ("latest", "dry"):
            inputs["run"] = trial.run
        if trial.sample:
            inputs[SAMPLE] = str(trial.sample)
    return inputs


def _given(values: Mapping[str, object]) -> Inputs:
    """Those inputs that a case says something about: what it leaves out has no part in a key."""
    return {name: str(value) for name, value in values.items() if value is not None}


def _reading(setup: Setup, contents: Contents) -> Inputs:
    """What goes into the system prompt, and the file that the answer is asked for in."""
    inputs = {f"guidance {document.path}": contents(document.path) for document in setup.guidance}
    if dropped := {document.path: document.without for document in setup.guidance if document.without}:
        inputs["sections left out"] = digest(dropped)
    if setup.contract is not None:
        inputs[f"contract {setup.contract}"] = contents(setup.contract)
    return inputs | _given({"answer file": setup.answer})


def _configured(agent: AgentConfig, contents: Contents) -> Inputs:
    """What an agent is given beside its prompt."""
    inputs = {f"{what} {path}": contents(path) for what, path in (("mcp", agent.mcp), ("state", agent.state)) if path}
    if agent.permissions != "accept-edits":
        inputs["permissions"] = agent.permissions
    if agent.system is not None:
        inputs["system prompt"] = digest(agent.system)
    commands = {"registry command": agent.registry_command, "command": agent.command}
    inputs |= {name: digest(command) for name, command in commands.items() if command is not None}
    return inputs | _given({"registry": agent.registry, "system function": agent.system_function})


def grade_inputs(case: Case, check: Check, tree: Mapping[str, str], grader: str, lane: str,
                 contents: Contents, transcript: str = "", shows: Shows | None = None) -> Inputs:
    """Inputs of a deterministic check. `tree` maps the final tree's paths to digests; `grader`: its code's version;
    `transcript`: the digest of what the agent did, which only some checks read. `shows`: where apps are shown; None:
    nowhere."""
    spec = check.spec
    inputs = {"grader": grader, "check": digest(spec)}
    if reason := case.skips(check):
        return inputs | {"skipped": reason}  # it reads nothing
    if check.lanes:
        inputs |= {"lane": lane, "lanes of the check": digest(check.lanes)}
    if isinstance(spec, TranscriptSpec | CallsSpec):
        return inputs | {"transcript": transcript}
    if isinstance(spec, StateSpec):
        return inputs | {"state": tree.get(STATE_FILE, ABSENT)}
    if isinstance(spec, GrepSpec | ExistsSpec) or (isinstance(spec, PluginSpec) and spec.globs):
        return inputs | {"matching files": digest({path: tree[path] for path in matching(tree, spec.globs)})}
    if isinstance(spec, PluginSpec):
        return inputs | {"final tree": digest(dict(tree))}
    if isinstance(spec, SnapshotSpec):
        return inputs | _live(case.setup, shows or Shows("nowhere"), tree, lane)
    if isinstance(spec, ScoreSpec) and spec.parses is None:
        return inputs | {"answer": tree.get(spec.answer, "")}
    inputs |= {"final tree": digest(dict(tree)), "lane": lane}
    if lane != "local" and case.setup.prewarm:
        inputs["prewarm"] = digest(case.setup.prewarm)
    inputs |= _toolchains(case.setup)
    if isinstance(spec, HiddenTestsSpec):
        inputs |= {path: contents(path) for path in (spec.path, *spec.more)}
    if isinstance(spec, StepsSpec):
        for step in spec.steps:
            if isinstance(step, Put):
                inputs[step.source] = contents(step.source)
    return inputs


def _live(setup: Setup, shows: Shows, tree: Mapping[str, str], lane: str) -> Inputs:
    """Inputs of a look at the running app; of one that is not run, why."""
    if setup.live is None:
        return {"live": "none"}
    if shows.cannot:
        return {"not shown": shows.cannot}
    return {"live": digest(setup.live), "image": shows.where, "lane": lane, "final tree": digest(dict(tree)),
            **_toolchains(setup)}


def judge_inputs(case: Case, judge: Judge, tree: Mapping[str, str], models: Sequence[str], grader: str,
                 state: str, given: Mapping[str, str] | None = None, contents: Contents | None = None) -> Inputs:
    """Inputs of a judge. models: all that judge. `state`: "on", or why it does not judge. given: what its answers hang
    on beside what it is asked: what plays the models' part. contents: of the documents that it is told, which only
    some judges need.

    The threshold is the result's: it costs no call.
    """
    if state != "on":
        return {"grader": grader, "judging": state}
    return {
        "grader": grader,
        "rubric": digest([judge.title, judge.criteria, judge.context]),
        "prompt": digest(case.prompt),
        "judged files": digest({path: tree[path] for path in matching(tree, judge.files)}),
        "judge model": ", ".join(models),
        "judging": state,
        **(given or {}),
        **_told(case, judge, contents),
        **({} if judge.votes == 1 else {"votes": str(judge.votes)}),
        **_given({"temperature": judge.temperature, "bytes shown": judge.most_bytes}),
    }


def _told(case: Case, judge: Judge, contents: Contents | None) -> Inputs:
    """What a judge is told beside its rubric: documents by their contents, commands with all that they hang on."""
    if not judge.documents and not judge.told_by:
        return {}
    assert contents is not None
    found = {f"document {path}": contents(path) for path in judge.documents}
    if judge.told_by:
        found["commands that tell"] = digest(judge.told_by)
        found |= {path: contents(path) for command in judge.told_by for path in project_files(command)}
        found |= _toolchains(case.setup)
    return found


def answer_inputs(inputs: Inputs, model: str, vote: int) -> Inputs:
    """What one answer is kept under: what its model is asked, and which of its votes it is (the first one is 1).

    inputs: the judge's own. Those of a judge with one model and one vote are its answer's.
    """
    question = {name: value for name, value in inputs.items() if name != "votes"} | {"judge model": model}
    return question if vote == 1 else question | {"vote": str(vote)}


def question_inputs(inputs: Inputs, model: str) -> Inputs:
    """What a model is asked, whoever answers for it: a recorded answer is one to the same question."""
    return {name: value for name, value in answer_inputs(inputs, model, 1).items() if name != PLAYED_BY}


def changes(before: Mapping[str, str] | None, now: Mapping[str, str], held: Held = lambda _: None) -> str:
    """Why a task runs again, in words: the names of the inputs that differ, short values shown.

    held: what folders held; of one that is known before and now, the files are named that differ.
    """
    if before is None:
        return "never run"
    names = [name for name in [*now, *(name for name in before if name not in now)]
             if _value(before, name) != _value(now, name)]
    if names != [SAMPLE]:  # of other inputs it is the first sample again: that tells nothing
        names = [name for name in names if name != SAMPLE]
    return ", ".join(_change(name, _value(before, name), _value(now, name), held) for name in names)


def _value(inputs: Mapping[str, str], name: str) -> str | None:
    beside, value = _IMPLIED.get(name, ("", ""))
    return inputs.get(name, value if beside in inputs else None)


def _change(name: str, old: str | None, new: str | None, held: Held) -> str:
    if old is None or (old == ABSENT and new is not None):
        return f"{name} is new"
    if new is None or new == ABSENT:
        return f"{name} is gone"
    if len(old) <= _SHOWN and len(new) <= _SHOWN and old and new:
        return f"{name} {old} → {new}"
    had, has = held(old), held(new)
    if had is None or has is None or had == has:
        return f"{name} changed"
    return _files_changed(_folder(name), had, has)


def _files_changed(folder: str, had: Mapping[str, str], has: Mapping[str, str]) -> str:
    said = []
    for file in sorted({*had, *has}):
        if had.get(file) != has.get(file):
            what = "is new" if file not in had else "is gone" if file not in has else "changed"
            said.append(f"{folder}/{file} {what}")
    more = len(said) - _FILES
    return ", ".join(said[:_FILES]) + (f" and {more} more" if more > 0 else "")


def _folder(name: str) -> str:
    """What a folder that is an input is called where its files are named: `starter cases/x/starter` is `starter`."""
    kind, _, rest = name.partition(" ")
    if kind == "skill":
        return f"skills/{rest}"
    return (rest if kind in ("starter", "scaffold", "answer", "mcp", "state") else name).rpartition("/")[2]
