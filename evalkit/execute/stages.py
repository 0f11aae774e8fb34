"""The stages that make a final tree: template -> workspace -> agent. Each fills one entry of the store.

Caches never travel: zig's cache manifests (as one example) hold absolute paths, and a warm tree copied elsewhere grades
the other tree's sources. So a template and a final tree are archived without the caches that the case names, and a
prewarm runs in the agent's own workspace, where the agent finds it warm.

An attempt that its provider failed leaves no outcome; the next one begins in a fresh workspace (see attempts.py).
"""

from __future__ import annotations

import contextlib
import os
import posixpath
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evalkit.analysis.model import Case, Command, Setup, Skill
from evalkit.analysis.placeholders import expand_all
from evalkit.digest import digest
from evalkit.errors import HarnessError, UserError
from evalkit.execute.agents.base import Agent, Job
from evalkit.execute.attempts import note_on, run_paid
from evalkit.execute.finished import Finished, noted
from evalkit.execute.folders import remove_tree
from evalkit.execute.lanes import Room
from evalkit.execute.layers import LIGHT, layered
from evalkit.execute.outcome import TRANSCRIPT, TREE, AgentError, AgentRecord, Ending, Usage
from evalkit.execute.overlay import lay_over
from evalkit.execute.pack import pack
from evalkit.execute.places import TREE_NAME
from evalkit.execute.process import ProgramMissing
from evalkit.execute.retry import Retries, RetryPolicy
from evalkit.execute.secrets import Redactor
from evalkit.execute.session import Session
from evalkit.execute.tree import Manifest, listed, members, unpack
from evalkit.plan.keys import Inputs, agent_inputs, changes, template_inputs, workspace_inputs
from evalkit.plan.trials import SHARED_SKILLS, SKILLS_FOLDER, Trial
from evalkit.records import Misfit, read_record, record_bytes, structure, unstructure, write_record
from evalkit.values import evolve

__all__ = ["RETRIES", "TRANSCRIPT", "TREE", "carry_out", "is_light", "make_template", "make_workspace", "run_agent"]

RETRIES = RetryPolicy(retries=2, window=10.0)
"""Of agent runs: an agent has asked its provider for minutes before it fails."""
_MANIFEST = "tree.json"
_NO_TREE = Manifest({}, (), 0)
_SAID = 1_500
"""Characters of a failed command's output that an error shows."""


def make_template(session: Session, setup: Setup, *, inputs: Inputs, lane: str = "local") -> str:
    """Scaffold once per profile. Returns the store's key. inputs: as the caller took them (`template_inputs`)."""
    key = digest(inputs)
    scaffold = setup.scaffold
    toolchains = setup.toolchains if scaffold.command else ()
    with (session.room("scaffold", toolchains, lane=lane if scaffold.command else "local", nested=True,
                       network=setup.network) as room,
          session.store.making("template", key, durable=False, inputs=inputs) as entry):
        tree = room.tree
        if scaffold.command is not None:
            carry_out(session, room, scaffold.command, {"workspace": str(room.seen(tree))}, cwd=tree.parent,
                     log=room.scratch / "scaffold.log", what="the scaffold command", origin=scaffold.origin)
            if tree.is_symlink() or not tree.is_dir():
                raise UserError(f"the scaffold command made no folder at {{workspace}} ({scaffold.origin})",
                                hint="it must create the folder that {workspace} names")
        else:
            tree.mkdir()
            if scaffold.folder is not None:
                lay_over(session.root / scaffold.folder, tree)
        _keep_tree(session, setup, tree, entry, f"the scaffold at {scaffold.origin}")
        _check_unchanged(inputs, template_inputs(setup, session.contents, lane))
    return key


def _check_unchanged(before: Inputs, now: Inputs) -> None:
    """Raise HarnessError where a file was edited meanwhile: what was made belongs to neither key."""
    if before != now:
        raise HarnessError(f"{changes(before, now)} since this run began", hint="run again: nothing was kept")


def _keep_tree(session: Session, setup: Setup, tree: Path, entry: Path, what: str) -> None:
    """Archive a tree that agents start from: what is left out of it is said, a part that is cut off is an error."""
    manifest = pack(tree, entry / TREE, exclude=setup.caches)
    if manifest.cut:
        raise UserError(f"{what} makes a tree that is too large\n"
                        + "\n".join(f"  | {line}" for line in manifest.left_out),
                        hint="name what can be made again (dependencies, build output) in `caches`")
    for line in manifest.left_out:
        session.say(f"{what}: left out {line}")
    write_record(entry / _MANIFEST, manifest, sync=False)  # the store sees to what must survive a loss of power


def make_workspace(session: Session, setup: Setup, *, inputs: Inputs, skills_folder: str = SKILLS_FOLDER,
                   lane: str = "local") -> str:
    """Clone the template, lay the starter over it and deliver the skills. Returns the store's key.

    inputs: as the caller took them (`workspace_inputs`). skills_folder: where in it skills are put.
    """
    key = digest(inputs)
    template = _opened(session, "template", inputs["template"])
    if _is_put_together(session, setup, template, inputs, skills_folder, lane):
        return key
    toolchains = setup.toolchains if any(skill.command for skill in setup.skills) else ()
    with (session.room("workspace", toolchains, lane=lane if toolchains else "local",
                       network=setup.network) as room,
          session.store.making("workspace", key, durable=False, inputs=inputs) as entry):
        tree = room.tree
        unpack(template / TREE, tree)
        if setup.starter is not None:
            lay_over(session.root / setup.starter, tree)
        for skill in setup.skills:
            if skill.linked and skills_folder != SHARED_SKILLS:
                _deliver(session, skill, tree / SHARED_SKILLS / skill.name, room)
                _link(tree, f"{skills_folder}/{skill.name}", f"{SHARED_SKILLS}/{skill.name}")
            else:
                _deliver(session, skill, tree / skills_folder / skill.name, room)
        _keep_tree(session, setup, tree, entry, "the workspace")
        _check_unchanged(inputs, workspace_inputs(setup, session.contents, skills_folder, lane))
    return key


def is_light(session: Session, setup: Setup, inputs: Inputs) -> bool:
    """Whether making the workspace takes no time: some small files are copied."""
    template = session.store.path("template", inputs["template"]) / TREE
    try:
        return not any(skill.command for skill in setup.skills) and template.stat().st_size <= LIGHT
    except OSError:
        return False


def _is_put_together(session: Session, setup: Setup, template: Path, inputs: Inputs, skills_folder: str,
                     lane: str) -> bool:
    """Make a workspace of a few files in memory. Returns False where it is none of that kind."""
    layers = [(setup.starter, "")] if setup.starter is not None else []
    for skill in setup.skills:
        if skill.folder is None or skill.linked:
            return False
        layers.append((skill.folder, f"{skills_folder}/{skill.name}"))
    made = layered(template / TREE, [(session.root / path, place) for path, place in layers], exclude=setup.caches)
    if made is None:
        return False
    archive, manifest = made
    _check_unchanged(inputs, workspace_inputs(setup, session.contents, skills_folder, lane))
    key = digest(inputs)
    session.store.put("workspace", key, {TREE: archive}, inputs=inputs)
    session.last_made = key, archive, manifest
    return True


def _opened(session: Session, kind: str, key: str) -> Path:
    """An entry that an earlier task made. Raises HarnessError where it is gone, or was damaged and set aside."""
    entry = session.store.open(kind, key)
    if entry is None:
        raise HarnessError(f"the {kind} is not in the store any more", hint="run again: it is made again")
    return entry


def _deliver(session: Session, skill: Skill, target: Path, room: Room) -> None:
    if skill.folder is not None:
        lay_over(session.root / skill.folder, target)
        return
    assert skill.command is not None
    printed = room.scratch / f"skill-{skill.name}.md"
    carry_out(session, room, skill.command, {"skill": skill.name}, cwd=room.beside, output=printed,
             log=printed.with_suffix(".log"), what=f"skill `{skill.name}`: its command", origin=skill.origin)
    text = printed.read_bytes()
    if not text.strip():
        raise UserError(f"skill `{skill.name}`: its command printed nothing ({skill.origin})",
                        hint="it must print the skill's SKILL.md on standard output")
    target.mkdir(parents=True, exist_ok=True)
    (target / "SKILL.md").write_bytes(text)


def _link(tree: Path, name: str, target: str) -> None:
    """Put a relative link into a tree, in the place of what is there. name, target: relative to the tree."""
    link = tree / name
    if link.is_dir() and not link.is_symlink():
        shutil.rmtree(link)
    link.unlink(missing_ok=True)
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(os.path.relpath(target, posixpath.dirname(name)))


def carry_out(session: Session, room: Room, command: Command, values: Mapping[str, str], *, cwd: Path, log: Path,
              what: str, origin: str, output: Path | None = None) -> None:
    """Run a set-up command of a case, all it says into `log`, or its standard output into `output`.

    Raises UserError, with the command's own words, where it fails.
    """
    argv = expand_all(command.words, values)
    try:
        finished = room.run(argv, cwd=cwd, limit=command.limit, log=output or log,
                            errors=log if output is not None else None, tick=session.tick)
    except ProgramMissing as error:
        raise HarnessError(f"{what} cannot start: {error.message} ({origin})",
                           hint="does the suite's toolchain install that program?") from error
    if not finished.ok:
        import shlex

        how = finished.ended_by or f"exit status {finished.exit_code}"
        said = "".join(_end_of(path) for path in (output, log) if path is not None)
        raise UserError(f"{what} failed ({how}), declared at {origin}\n  $ {shlex.join(argv)}"
                        + "".join(f"\n  | {line}" for line in session.redactor.text(said).strip().splitlines()[-12:]),
                        hint="correct the name or the command there"
                             + ("; in the sandbox it has no network, and writes to {workspace} and HOME alone"
                                if room.walls else ""))


def _end_of(log: Path) -> str:
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - _SAID))
        return file.read().decode("utf-8", "replace")


def run_agent(session: Session, trial: Trial, agent: Agent, *, inputs: Inputs, policy: RetryPolicy = RETRIES,
              failed: Path | None = None) -> AgentRecord:
    """Run the agent in a workspace of its own and keep what it left. Only a real ending is kept.

    What passes by itself, by the agent's word, is tried again in a fresh workspace, as the policy has it; what failed
    attempts consumed is part of the record. inputs: as the caller took them (`agent_inputs`). They are compared right
    before the agent starts, so that what was paid for is never thrown away. failed: a folder of its own for what
    failed attempts printed. Raises AgentError where the harness or the provider failed, and BudgetReached where no more
    may be spent.

    What a killed run left of an agent that had finished is kept instead (finished.py): the key's claim should be held.
    """
    if agent.traits.idle and not (trial.dry or session.keep_workspaces or session.redactor.replacements):
        return _keep_untouched(session, trial, agent, inputs)
    paid = agent.traits.sampled and not trial.dry
    if paid and (adopted := _adopted(session, trial, inputs)) is not None:
        return adopted
    retries, errors = Retries(policy, session.say), list[AgentError]()
    while True:
        try:
            return _attempt(session, trial, agent, inputs, errors, failed)
        except AgentError as error:
            errors.append(error)
            if not error.transient or not retries.again(error.message, error.retry_after):
                if retries.count:
                    error.message += f" (after {retries.count + 1} attempts)"
                error.attempts = tuple(each.usage for each in errors)
                raise


def _attempt(session: Session, trial: Trial, agent: Agent, inputs: Inputs, before: Sequence[AgentError],
             failed: Path | None) -> AgentRecord:
    """One run of the agent. before: what attempts before it failed with."""
    case = trial.case
    paid = agent.traits.sampled and not trial.dry
    if paid:
        session.budget.check()
    workspace = _opened(session, "workspace", inputs["workspace"])
    redactor = _redactor(session, case, workspace)
    # Who builds nothing starts no program in its workspace: it works in this process.
    toolchains, lane = (case.setup.toolchains, trial.lane) if agent.traits.builds else ((), "local")
    with (session.room("agent", toolchains, lane=lane, keep=session.keep_workspaces,
                       network=case.setup.network) as room,
          noted(session.store.root, digest(inputs)) if paid else contextlib.nullcontext(),
          session.store.making("agent", digest(inputs), durable=paid, inputs=inputs) as entry):
        folder, tree = room.scratch, room.tree
        own = session.installed((agent.toolchain,) if agent.toolchain else ())
        installed = session.installed(toolchains)
        if session.keep_workspaces:
            session.say(f"workspace kept: {tree}")
        unpack(workspace / TREE, tree)
        prewarmed = _prewarm(session, trial, room, workspace) if agent.traits.builds else 0.0
        for item in own:
            for path in (item.folder, *item.python):
                room.show(path)
        job = Job(
            trial=trial, root=session.root, workspace=tree, home=room.home, env=room.env, room=room,
            transcript=entry / TRANSCRIPT,
            off_limits=() if room.walls else session.off_limits(
                (*session.places.private, *(path for item in installed for path in item.hidden))),
            toolchain=own[0] if own else None,
            readable=tuple(path for item in installed for path in (item.folder, *item.shown)),
            redactor=redactor, prices=session.prices, tick=session.tick,
            endpoint=session.models.example(trial.subject.model, agent.traits.protocol) if trial.dry else None,
        )
        _check_unchanged(inputs, agent_inputs(trial, session.contents))
        began = time.monotonic()
        if trial.dry:
            session.say(session.redactor.text(agent.describe(job)))
            ending = Ending("completed", "dry run: no model was called", Usage(turns=0, cost=0.0))
        elif paid:
            ending = run_paid(session, agent, job, failed, len(before) + 1)
        else:
            ending = agent.run(job)
        seconds = time.monotonic() - began
        if not agent.traits.sampled:  # it costs nothing, and it reads its answer while it works
            _check_unchanged(inputs, agent_inputs(trial, session.contents))
        ending = evolve(ending, detail=redactor.text(ending.detail),
                        notes=tuple(map(redactor.text, (*ending.notes, *note_on(before), *room.notes()))))
        record = _record(trial, agent, inputs, ending, _NO_TREE,
                         seconds=round(seconds, 3), prewarm_seconds=round(prewarmed, 3),
                         versions={name: version for item in (*installed, *own)
                                   for name, version in item.versions.items()},
                         failed=tuple(error.usage for error in before))
        if paid:
            Finished.of(record.key, folder, entry, session.redactor, unstructure(record)).write(session.store.root)
        clean = redactor.clean if agent.traits.sampled else redactor.values  # a known answer is the person's own
        return _keep_run(case, folder, entry, record, clean)


def _redactor(session: Session, case: Case, workspace: Path) -> Redactor:
    """The session's, but for what looks like a key and was given to the agent: no key of anybody's, but its work."""
    archive = workspace / TREE

    def given() -> Iterator[bytes]:
        yield from (case.prompt.encode(), case.agent.suffix.encode())
        with contextlib.suppress(HarnessError):  # it is gone: then nothing is known of it
            yield from (data() for member, data in members(archive) if member.is_file)

    return session.redactor.sparing(given)


def _keep_run(case: Case, folder: Path, entry: Path, record: AgentRecord,
              clean: Callable[[bytes], bytes]) -> AgentRecord:
    """Fill the entry of an agent run that ended. record: without its tree, which is in the scratch folder."""
    remove_tree(folder / "home")  # an agent's own notes may hold what the transcript was cleaned of
    manifest = pack(folder / TREE_NAME, entry / TREE, exclude=case.setup.caches, clean=clean)
    record = evolve(record, tree=manifest, tree_digest=digest(manifest.files))
    write_record(entry / "agent.json", record, sync=False)
    return record


def _adopted(session: Session, trial: Trial, inputs: Inputs) -> AgentRecord | None:
    """Keep what a killed run left of this agent run, if its agent had finished. Returns None where it has to run."""
    key, store, keep = digest(inputs), session.store, session.keep_workspaces
    left = Finished.left(store.root, key, session.places.work, session.redactor)
    if left is None:
        return None
    try:
        record = structure(left.record, AgentRecord)
    except Misfit:
        return None
    if (record.key, record.inputs) != (key, inputs):
        return None
    with (session.places.scratch("agent", keep=keep, left=left.desk) as folder, noted(store.root, key),
          store.making("agent", key, inputs=inputs, left=left.making) as entry):
        session.say("the agent had finished when an earlier run was killed: its work is kept")
        if keep:
            session.say(f"workspace kept: {folder / TREE_NAME}")
        for path in entry.iterdir():
            if path.name not in left.files:  # what the killed run began to make of it
                path.unlink()
        workspace = store.path("workspace", inputs["workspace"])
        return _keep_run(trial.case, folder, entry, record, _redactor(session, trial.case, workspace).clean)


def _record(trial: Trial, agent: Agent, inputs: Inputs, ending: Ending, tree: Manifest, **more: Any) -> AgentRecord:
    return AgentRecord(
        key=digest(inputs), inputs=inputs, agent=trial.subject.agent, agent_version=agent.traits.version,
        model=trial.subject.model, ending=ending, tree=tree, tree_digest=digest(tree.files),
        finished_at=datetime.now(UTC).isoformat(timespec="seconds"), **more)


def _keep_untouched(session: Session, trial: Trial, agent: Agent, inputs: Inputs) -> AgentRecord:
    """The run of an agent that leaves its workspace as it is: the workspace's archive is the final tree's.

    (Only where there are no keys to clean it of.)
    """
    key = inputs["workspace"]
    last = session.last_made
    made = last if last is not None and last[0] == key else None
    archive = session.store.path("workspace", key) / TREE if made else _opened(session, "workspace", key) / TREE
    manifest = made[2] if made else _listed(archive)
    ending = Ending("completed", "did nothing", Usage(turns=0, cost=0.0))
    record = _record(trial, agent, inputs, ending, manifest, seconds=0.0, prewarm_seconds=0.0, versions={})
    if made or archive.stat().st_size <= LIGHT:
        session.store.put("agent", record.key, {TREE: made[1] if made else archive.read_bytes(),
                                                "agent.json": record_bytes(record)}, inputs=inputs)
        return record
    with session.store.making("agent", digest(inputs), durable=False, inputs=inputs) as entry:
        shutil.copyfile(archive, entry / TREE)  # no hard link: it would touch the other entry's stamp
        write_record(entry / "agent.json", record, sync=False)
    return record


def _listed(archive: Path) -> Manifest:
    """What a workspace's archive holds. One that was put together in memory is small, and has no list beside it."""
    with contextlib.suppress(FileNotFoundError):
        return evolve(read_record(archive.with_name(_MANIFEST), Manifest), left_out=())
    return listed(archive)


def _prewarm(session: Session, trial: Trial, room: Room, workspace: Path) -> float:
    """Run the case's prewarm commands in the workspace, or put a clone of what they once made into it. Returns seconds.

    A failing one is a broken set-up, not the agent's fault.
    """
    began, setup = time.monotonic(), trial.case.setup
    if not setup.prewarm:
        return 0.0
    if room.walls:
        from evalkit.execute.warm import warm_for

        warm = warm_for(session, setup, trial.lane)
        if warm is not None:
            warm.furnish(room, _listed(workspace / TREE).files, begins=True)
    else:
        for command in setup.prewarm:
            session.say(f"prewarm: {' '.join(command.words)}")
            carry_out(session, room, command, {}, cwd=room.tree, log=room.scratch / "prewarm.log", what="the prewarm",
                      origin=trial.case.origin)
    return time.monotonic() - began
