"""`evalkit store` as a person uses it."""

from __future__ import annotations

import json
import os
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from evalkit.cli import main
from evalkit.execute.store import Store
from evalkit.gateway import ScriptedGateway
from tests.feature.project import KEY as SECRET
from tests.feature.project import MiniProject

MADE = int(time.time()) - 400 * 86_400 - 60
TEMPLATE, WORKSPACE, FREE, PAID, LOST, ANSWER = ("1a" * 32, "2b" * 32, "3c" * 32, "4d" * 32, "5e" * 32, "6f" * 32)
LISTED = """\
agent       3c3c3c3c3c3c   400d     185 B   completed   $0.00   oracle: greeting
agent       4d4d4d4d4d4d   400d     185 B   capped      $1.25   claude m-1: greeting@ts
agent       5e5e5e5e5e5e   400d     187 B   completed           claude m-1
judge       6f6f6f6f6f6f   400d      52 B               $0.50   j-1
template    1a1a1a1a1a1a   400d     100 B                       scaffold skeleton
workspace   2b2b2b2b2b2b   400d      12 B                       skill writing

agent       3 entries   557 B   $1.25
judge       1 entry     52 B    $0.50
template    1 entry     100 B
workspace   1 entry     12 B
"""


def record(agent: str, model: str | None, status: str, cost: float | None) -> str:
    return json.dumps({"schema": 1, "agent": agent, "model": model, "inputs": {"workspace": WORKSPACE},
                       "ending": {"status": status, "usage": {"cost": cost}}}, separators=(",", ":"))


def add(store: Store, kind: str, key: str, files: dict[str, str], *, durable: bool, **inputs: str) -> None:
    """An entry that was made, and last used, four hundred days ago."""
    with store.making(kind, key, durable=durable, inputs=inputs) as folder:
        for name, text in files.items():
            (folder / name).write_text(text)
    place = store.path(kind, key)
    made = time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(MADE))
    manifest = json.loads((place / "entry.json").read_bytes())
    (place / "entry.json").write_text(json.dumps({**manifest, "made_at": made}))
    os.utime(place, (MADE, MADE))


@pytest.fixture
def kept(project: MiniProject, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A store with an old entry of each kind, and results that name two agent runs and an answer; the current folder.

    The oracle's run is not the one that its unit's result names last; one run of claude is named by none.
    """
    store = Store(project.root / ".evalkit/store")
    add(store, "template", TEMPLATE, {"tree.tar.zst": "t" * 100}, durable=False, layout="1",
        **{"scaffold skeleton": "0" * 64})
    add(store, "workspace", WORKSPACE, {"tree.tar.zst": "w" * 12}, durable=False, template=TEMPLATE,
        **{"skill writing": "0" * 64})
    add(store, "agent", FREE, {"agent.json": record("oracle", None, "completed", 0.0)}, durable=False,
        workspace=WORKSPACE)
    add(store, "agent", PAID, {"agent.json": record("claude", "m-1", "capped", 1.25), "transcript.jsonl": "\n"},
        durable=True, workspace=WORKSPACE)
    add(store, "agent", LOST, {"agent.json": record("claude", "m-1", "completed", None)}, durable=True)
    add(store, "judge", ANSWER, {"judging.json": '{"schema":1,"model":"j-1","usage":{"cost":0.5}}',
                                 "response.json": "{ }\n\n"}, durable=True)
    for folder, unit, key in (("latest/oracle/greeting", "greeting", FREE), ("tuesday/x/y", "greeting@ts", PAID)):
        result = {"case": "greeting", "unit": unit, "agent_key": key, "checks": [{"key": ANSWER}]}
        project.write(f"results/{folder}/trial-1/result.json", json.dumps(result))
    monkeypatch.chdir(project.root)
    return store


Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def store(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs `evalkit store`: its status, its output, its errors."""

    def run(*args: str) -> tuple[int, str, str]:
        status = main(["store", *args])
        done = capsys.readouterr()
        return status, done.out, done.err

    return run


def names(store: Store) -> set[str]:
    return {key for _, key in store.entries()}


def damage(store: Store, kind: str, key: str) -> None:
    with (store.path(kind, key) / "entry.json").open("r+") as file:
        file.truncate(20)


# ---- ls ----
def test_the_list(kept: Store, store: Run) -> None:
    """Kind, key, age, size, how it ended, what it cost, what it is, for which unit; then a total of each kind."""
    assert (0, LISTED, "") == store("ls")


def test_the_list_of_a_kind(kept: Store, store: Run) -> None:
    """Its entries and its total alone; an unknown kind is the person's mistake."""
    assert (0, "judge   6f6f6f6f6f6f   400d      52 B   $0.50   j-1\n\njudge   1 entry   52 B   $0.50\n", "") == store(
        "ls", "judge")
    assert (2, "", "error: the store has no entries of kind `judges`\n  did you mean `judge`?\n") == store(
        "ls", "judges")


def test_the_list_as_data(kept: Store, store: Run) -> None:
    """What results need is told too."""
    status, out, _ = store("ls", "--json")
    data = {item["key"]: item for item in json.loads(out)}
    assert 0 == status
    assert {TEMPLATE, WORKSPACE, FREE, PAID, ANSWER} == {key for key, item in data.items() if item["needed"]}
    assert {PAID, LOST, ANSWER} == {key for key, item in data.items() if item["paid"]}
    assert (["greeting@ts"], 1.25, "capped") == tuple(data[PAID][name] for name in ("units", "cost", "ending"))


def test_an_empty_store(project: MiniProject, monkeypatch: pytest.MonkeyPatch, store: Run) -> None:
    """Every action has an answer before the first run."""
    monkeypatch.chdir(project.root)
    assert (0, "") == store("ls")[:2]
    assert (0, "[]\n", "") == store("ls", "--json")
    assert (0, "removed nothing\n", "") == store("gc")
    assert (0, "0 entries, none damaged\n", "") == store("verify")
    assert 2 == store("export", "file")[0]


def test_entries_without_a_manifest(kept: Store, store: Run) -> None:
    """They are damaged: what their records tell is shown, and what cost nothing is known by its kind or agent."""
    for kind, key in list(kept.entries()):
        (kept.path(kind, key) / "entry.json").unlink()
        os.utime(kept.path(kind, key), (MADE, MADE))
    out = store("ls")[1]
    assert "agent       4d4d4d4d4d4d   400d     185 B   capped      $1.25   claude m-1: greeting@ts\n" in out
    assert "workspace   2b2b2b2b2b2b   400d      12 B   damaged\n" in out
    status, told, _ = store("verify")
    assert (3, 6) == (status, told.count("its entry.json is missing"))
    assert told.endswith("6 of 6 entries damaged\n")
    shutil.rmtree("results")
    assert (0, "removed 1 agent, 1 template, 1 workspace: 297 B\n", "") == store("gc")
    assert {PAID, LOST, ANSWER} == names(kept)


# ---- gc ----
def test_what_results_need_stays(kept: Store, store: Run) -> None:
    """Whatever its age, with what it was made from. A run that was paid for stays without them too."""
    assert (0, "removed nothing\n", "") == store("gc", "--older", "0d")
    assert 6 == len(names(kept))


def test_what_nobody_needs_goes(kept: Store, store: Run) -> None:
    """What cost nothing, was not used for a while, and is named by no result; a dry run says so and removes nothing."""
    shutil.rmtree("results/latest")
    add(kept, "workspace", "7a" * 32, {"tree.tar.zst": "x"}, durable=False)
    assert (0, "agent       3c3c3c3c3c3c   185 B   unused for 400d   oracle\n"
               "workspace   7a7a7a7a7a7a   1 B     unused for 400d\n"
               "would remove 1 agent, 1 workspace: 186 B\n", "") == store("gc", "--dry-run")
    assert 7 == len(names(kept))
    assert (0, "removed 1 agent, 1 workspace: 186 B\n", "") == store("gc")
    assert {TEMPLATE, WORKSPACE, PAID, LOST, ANSWER} == names(kept)
    assert [] == [*(kept.root / "making").iterdir(), *(kept.root / "locks").iterdir()]


def test_what_is_young_stays(kept: Store, store: Run) -> None:
    """Young is what was made, or used, within the time that is given."""
    shutil.rmtree("results")
    Store(kept.root).open("agent", FREE)
    assert (0, "removed 1 template, 1 workspace: 112 B\n", "") == store("gc", "--older", "1h")
    assert (0, "removed nothing\n", "") == store("gc", "--older", "1h")
    assert (2, "", "error: `--older soon` is no span of time\n"
                   "  it is a number with m, h, d or w: 30d, 12h\n") == store("gc", "--older", "soon")


def test_what_was_paid_for(kept: Store, store: Run) -> None:
    """It goes only when that is asked for, and no result names it."""
    assert (0, "removed 1 agent: 187 B\n", "") == store("gc", "--paid")
    assert {TEMPLATE, WORKSPACE, FREE, PAID, ANSWER} == names(kept)


def test_any_record_can_name_an_entry(kept: Store, store: Run, project: MiniProject) -> None:
    """Also one that this evalkit does not know."""
    project.write("results/history/2024.jsonl", f'{{"was": "{LOST}"}}\n')
    assert (0, "removed nothing\n", "") == store("gc", "--paid")


def test_what_is_broken_or_left_over_goes(kept: Store, store: Run) -> None:
    """Entries that were set aside, but for those that were paid for, and what killed processes were making."""
    for kind, key in (("template", TEMPLATE), ("agent", PAID)):
        damage(kept, kind, key)
        kept.open(kind, key)
    left = kept.root / "making/999999999-agent-00000000"
    left.mkdir()
    (left / "transcript.jsonl").write_text("x" * 1000)
    told = "1 damaged entry that was paid for stays; `--paid` removes damaged ones too\n"
    assert (0, "would remove 1 damaged, 1 leftover: 1.1 kB\n", told) == tuple(
        part if isinstance(part, int) else part.splitlines(keepends=True)[-1] for part in store("gc", "--dry-run"))
    assert (0, "removed 1 damaged, 1 leftover: 1.1 kB\n", told) == store("gc")
    assert [f"agent-{PAID}-1"] == [path.name for path in kept.damaged()]
    assert (0, "removed 1 agent, 1 damaged: 392 B\n", "") == store("gc", "--paid")
    assert [] == kept.damaged()


def test_what_others_hold_stays(kept: Store, store: Run) -> None:
    """An entry that another process is at work on is not taken from under its hands."""
    def hold() -> None:
        with kept.claim("agent", FREE):
            ready.set()
            done.wait(20)

    shutil.rmtree("results")
    ready, done = threading.Event(), threading.Event()
    thread = threading.Thread(target=hold)
    thread.start()
    ready.wait(10)
    store("gc")
    done.set()
    thread.join()
    assert {FREE, PAID, LOST, ANSWER} == names(kept)


def test_a_store_that_is_shared(kept: Store, store: Run, project: MiniProject, tmp_path: Path,
                                monkeypatch: pytest.MonkeyPatch) -> None:
    """Other checkouts' results count where they are named; without them nothing that was paid for goes."""
    kept.root.rename(tmp_path / "shared")
    monkeypatch.setenv("EVALKIT_STORE", str(tmp_path / "shared"))
    other = MiniProject.make(tmp_path / "other")
    other.write("results/latest/trial-1/result.json", json.dumps({"agent_key": LOST}))
    status, out, err = store("gc", "--paid")
    assert (2, "") == (status, out)
    assert err.startswith(f"error: other checkouts use the store {tmp_path / 'shared'} too")
    assert (0, "removed nothing\n", "") == store("gc", "--paid", "--with", str(other.root))
    shutil.rmtree(other.root / "results")
    assert (0, "removed 1 agent: 187 B\n", "") == store("gc", "--paid", "--with", str(other.root))
    assert 2 == store("gc", "--with", str(tmp_path / "none"))[0]


def test_where_the_store_is(kept: Store, store: Run, project: MiniProject, tmp_path: Path,
                            monkeypatch: pytest.MonkeyPatch) -> None:
    """As pyproject.toml says, from the project; the variable wins."""
    kept.root.rename(tmp_path / "shared")
    assert f"the store {kept.root} is empty\n" == store("ls")[2]
    project.write("pyproject.toml", project.read("pyproject.toml") + '\n[tool.evalkit]\nstore = "../shared"\n')
    assert LISTED == store("ls")[1]
    monkeypatch.setenv("EVALKIT_STORE", str(tmp_path / "none"))
    assert f"the store {tmp_path / 'none'} is empty\n" == store("ls")[2]
    monkeypatch.setenv("EVALKIT_STORE", "~nobody-of-this-name/store")
    assert "error: `store=~nobody-of-this-name/store` (from the environment) is not valid" in store("ls")[2]


# ---- verify ----
def test_verify(kept: Store, store: Run) -> None:
    """Damaged entries are listed; only `--repair` sets them aside."""
    assert (0, "6 entries, none damaged\n", "") == store("verify")
    damage(kept, "agent", PAID)
    (kept.path("judge", ANSWER) / "response.json").write_text("{")
    found = (f"agent {PAID}: its entry.json cannot be read\n"
             f"judge {ANSWER}: response.json has 1 bytes, not 5\n2 of 6 entries damaged\n")
    assert (3, found, "`evalkit store verify --repair` sets them aside: the next run makes them again\n") == store(
        "verify")
    assert 6 == len(names(kept))
    status, out, err = store("verify", "--repair")
    assert (3, found) == (status, out)
    assert f"it was moved to {kept.root}/damaged/agent-{PAID}-1 and will be made again" in err
    assert (0, "4 entries, none damaged\n", "") == store("verify")


# ---- export and import ----
@pytest.mark.parametrize(("words", "chosen"), [
    ((), {TEMPLATE, WORKSPACE, FREE, PAID, LOST, ANSWER}),
    (("--run", "tuesday"), {TEMPLATE, WORKSPACE, PAID, ANSWER}),
    (("--case", "greeting"), {TEMPLATE, WORKSPACE, FREE, PAID, ANSWER}),
    (("--case", "greeting@ts"), {TEMPLATE, WORKSPACE, PAID, ANSWER}),
    (("5e5e", f"judge:{ANSWER}"), {LOST, ANSWER}),
    (("2b2b2b",), {TEMPLATE, WORKSPACE}),
])
def test_what_is_exported(words: tuple[str, ...], chosen: set[str], kept: Store, store: Run, tmp_path: Path,
                          monkeypatch: pytest.MonkeyPatch) -> None:
    """All, or what a run, a case or keys name, with what it was made from; another project can import it."""
    file = str(tmp_path / "file.tar.zst")
    status, out, err = store("export", file, *words)
    assert (0, "") == (status, err)
    assert out.endswith(f" in {file}\n")
    other = MiniProject.make(tmp_path / "other")
    monkeypatch.chdir(other.root)
    status, out, err = store("import", file)
    assert (0, "") == (status, err)
    assert out.endswith(" new\n")
    assert chosen == names(Store(other.root / ".evalkit/store"))
    assert (0, f"nothing new, {len(chosen)} were there and stay\n", "") == store("import", file)


@pytest.mark.parametrize(("words", "error"), [
    (("--run", "monday"), "there are no results of the run `monday`\n  known here: `latest`, `tuesday`"),
    (("--case", "waving"), "no result is of a case or a unit `waving`"),
    (("9999",), "the store has no entry `9999`\n  at least 4 of its first digits; `evalkit store ls` shows them"),
    (("5e",), "the store has no entry `5e`\n  at least 4 of its first digits; `evalkit store ls` shows them"),
    (("5e5e", "--run", "latest"), "`--run`, `--case` and keys each choose what is exported\n  give one of them"),
])
def test_what_cannot_be_exported(words: tuple[str, ...], error: str, kept: Store, store: Run, tmp_path: Path) -> None:
    """The person's mistakes, told as such; nothing is written."""
    assert (2, "", f"error: {error}\n") == store("export", str(tmp_path / "file"), *words)
    assert not (tmp_path / "file").exists()


def test_an_export_replaces_no_pipe(kept: Store, store: Run) -> None:
    """Nor a folder or a device: only a file is written over."""
    os.mkfifo("pipe")
    assert (2, "", "error: `pipe` is no file\n  name a file: runs.tar.zst\n") == store("export", "pipe")
    assert Path("pipe").is_fifo()
    assert (2, "") == store("export", "/dev/null")[:2]


def test_a_file_that_is_no_export(kept: Store, store: Run) -> None:
    """It is refused, and the store is as before."""
    Path("file").write_text("hello")
    status, out, err = store("import", "file")
    assert (2, "") == (status, out)
    assert err.startswith("error: file cannot be imported: ")
    assert 6 == len(names(kept))


# ---- with runs ----
def test_a_damaged_agent_run_is_made_again(judged: tuple[MiniProject, ScriptedGateway]) -> None:
    """The run says that it is damaged, and where it is now, and pays again for that one alone."""
    project, _ = judged
    count = project.root.parent / "fake/runs"
    assert 0 == project.doit("run", "case:greeting", "agent=claude").status
    store = Store(project.root / ".evalkit/store")
    key = next(key for kind, key in store.entries() if kind == "agent")
    (store.path("agent", key) / "agent.json").write_text("{}")
    project.path(".evalkit/state.db").unlink()
    done = project.doit("run", "case:greeting", "agent=claude")
    assert 0 == done.status
    assert f"the agent {key[:12]} in the store is damaged (agent.json has 2 bytes, not " in done.err
    assert 2 == len(count.read_text().split())
    assert store.open("agent", key)


def test_runs_of_a_colleague_are_not_paid_for_again(judged: tuple[MiniProject, ScriptedGateway], tmp_path: Path,
                                                    monkeypatch: pytest.MonkeyPatch, store: Run) -> None:
    """What is imported is found by the next run, as is what is in a store that two checkouts share."""
    project, gateway = judged
    count = project.root.parent / "fake/runs"
    other = MiniProject.make(tmp_path / "other")
    third = MiniProject.make(tmp_path / "third")
    other.env |= project.env
    third.env |= {**project.env, "EVALKIT_STORE": str(other.root / ".evalkit/store")}
    assert 0 == project.doit("run", "case:greeting", "agent=claude").status
    asked = len(gateway.requests)
    monkeypatch.chdir(project.root)
    assert 0 == store("export", str(tmp_path / "file"), "--run", "latest")[0]
    monkeypatch.chdir(other.root)
    assert 0 == store("import", str(tmp_path / "file"))[0]
    for checkout in (other, third):
        assert 0 == checkout.doit("run", "case:greeting", "agent=claude").status
        assert checkout.path("results/latest/summary.json").is_file()
    assert (1, asked) == (len(count.read_text().split()), len(gateway.requests))
    assert not (third.root / ".evalkit/store").exists()
    assert [] == project.files_with(SECRET)


def test_the_store_is_a_choice(kept: Store, store: Run, tmp_path: Path) -> None:
    """As for `doit run`, on the command line too; other words that mean nothing are mistakes."""
    (tmp_path / "elsewhere").mkdir()
    assert (0, "", f"the store {tmp_path / 'elsewhere'} is empty\n") == store("ls", f"store={tmp_path / 'elsewhere'}")
    assert (0, "0 entries, none damaged\n", "") == store("verify", f"store={tmp_path / 'elsewhere'}")
    assert 1 == store("ls", "judge", f"store={kept.root}")[1].count(ANSWER[:12])
    assert 2 == store("gc", "stor=x")[0]
    assert "`stor` is not a choice" in store("gc", "stor=x")[2]
    assert (2, "", "error: `x` is one too many\n  evalkit store gc --help\n") == store("gc", "x")
