"""Live checks with an app of a few lines that is shown nowhere: what passes, what fails, and whose fault it is.

The real SDK under a display of its own: tests/e2e/test_live.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from evalkit.analysis.model import Check, Command, Live, Pattern, SnapshotSpec
from evalkit.analysis.model_live import Click, Expect, Find, Key, LiveStep, Note, Same, Target, Type
from evalkit.execute.live_lane import SKIPPED, LiveLane
from evalkit.grade import live as module
from evalkit.grade.grader import grade_check
from evalkit.grade.verdict import Verdict
from evalkit.values import evolve
from tests.unit.grade.trees import a_case, final_tree

APP = """#!/bin/sh
# The app: its snapshot is a file that the driver changes.
echo "app says hello"
[ -e crash ] && kill -SEGV $$
[ -e leaves ] && exit 3
cat > snapshot.txt <<'END'
view @main kind=gpu_surface
view @side kind=gpu_surface
view @web kind=page
widget main#1 role=group name=""
widget main#2 role=group name="Todo" parent=#1
widget main#3 role=item name="" parent=#2
widget main#4 role=text name="Card A" parent=#3
widget main#5 role=button name="Move right" parent=#3
widget main#6 role=item name="" parent=#2
widget main#7 role=text name="Card B" parent=#6
widget main#8 role=button name="Move right" parent=#6
widget main#9 role=group name="Doing" parent=#1
widget main#10 role=textbox name="Title" parent=#1
END
while :; do sleep 0.05; done
"""
DRIVE = r"""#!/bin/sh
echo "$@" >> driven
case "$1" in
ready) until [ -s snapshot.txt ]; do sleep 0.02; done;;
snapshot)
  [ -e blind ] && { echo "error: nothing published" >&2; exit 1; }
  [ -e torn ] && { rm torn; echo "error: half a snapshot" >&2; exit 1; }
  cat snapshot.txt;;
shot) [ -e no-pictures ] || printf '\211PNG\r\n\032\npixels' > "shot-$2.png";;
click)
  [ -e dies ] && { kill -9 "$(cat pid)"; sleep 1; }
  [ -e hangs ] && sleep 60
  [ -e refuses ] && { echo "error: not interactive" >&2; exit 1; }
  if [ -e recreates ]; then sed -i 's/#7 /#70 /; s/#8 /#80 /' snapshot.txt; fi
  sed -i '/#6 /s/parent=#2/parent=#9/' snapshot.txt;;
type) printf 'widget main#20 role=text name="%s" parent=#1\n' "$4" >> snapshot.txt;;
key) printf 'widget main#21 role=text name="key %s in %s" parent=#1\n' "$3" "$2" >> snapshot.txt;;
esac
"""
WIDGET = Pattern(r'widget (?<view>\w+)#(?<id>\d+) role=(?<role>\w+) name="(?<name>[^"]*)"'
                 r"(?:.* parent=#(?<parent>\d+))?", regex=True)


def sh(text: str, limit: int = 5) -> Command:
    return Command(tuple(text.split(" ")), limit)


LIVE = Live(
    launch=Command(("sh", "-c", "echo $$ > pid; exec sh ./app.sh"), 5), snapshot=sh("sh ./drive.sh snapshot"),
    build=sh("sh ./build.sh"), ready=sh("sh ./drive.sh ready"), screenshot=sh("sh ./drive.sh shot {view}"),
    picture="shot-{view}.png", click=sh("sh ./drive.sh click {view} {id}"),
    type_text=sh("sh ./drive.sh type {view} {id} {text}"), key=sh("sh ./drive.sh key {view} {key}"), widget=WIDGET,
    views=Pattern(r"view @(?<view>\w+) kind=gpu", regex=True), env=(("APP_THEME", "light"),))
CARD_B = Target((("role", Pattern("text")), ("name", Pattern("Card B"))))
RIGHT = Target((("role", Pattern("button")), ("name", Pattern("right", regex=True))), near=Pattern("Card B"))
MOVE: tuple[LiveStep, ...] = (
    Note("card", CARD_B), Click(RIGHT), Find(evolve(CARD_B, inside=Pattern("Doing"))), Same("card"))


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PATIENCE", 0.3)


def looked_at(folder: Path, *steps: LiveStep, has: tuple[str, ...] = (), one_line: bool = False, lacks: str = "",
              live: Live | None = LIVE, place: LiveLane | None = None, limit: int = 60,
              files: Mapping[str, str] | None = None) -> Verdict:
    """The verdict on the app, with marker files that make it behave otherwise."""
    spec = SnapshotSpec("lacks" if lacks else "has", tuple(map(Pattern, (lacks,) if lacks else has)), one_line,
                        steps=steps, limit=limit)
    folder.mkdir(exist_ok=True)
    tree = final_tree(folder, {"app.sh": APP, "drive.sh": DRIVE, "build.sh": "echo built\n", **(files or {})})
    case = a_case()
    case = evolve(case, setup=evolve(case.setup, live=live))
    check = Check("live", "snapshot", spec, (), False, "", "x.eval:1:1")
    return grade_check(case, check, tree, {}, "local", None, folder / "screenshots", place or LiveLane()).verdict


# ---- what passes ----
def test_what_an_app_shows(tmp_path: Path) -> None:
    """Each pattern in some line; the pictures of its gpu views and its snapshot are kept."""
    verdict = looked_at(tmp_path, has=('name="Todo"', "role=button"))
    assert (verdict.status, verdict.summary) == ("pass", 'it has "name="Todo"", "role=button"')
    assert sorted(path.name for path in (tmp_path / "screenshots").iterdir()) == [
        "live-side.png", "live.png", "live.txt"]
    assert 'name="Card A"' in (tmp_path / "screenshots/live.txt").read_text()


@pytest.mark.parametrize(("keywords", "status"), [
    ({"has": ("Todo", "nowhere")}, "fail"), ({"has": ("Todo", "Card A")}, "pass"),
    ({"has": ("Todo", "Card A"), "one_line": True}, "fail"),
    ({"has": ("role=text", "Card A"), "one_line": True}, "pass"),
    ({"lacks": "nowhere"}, "pass"), ({"lacks": "Todo"}, "fail")])
def test_has_one_line_and_lacks(keywords: dict[str, object], status: str, tmp_path: Path) -> None:
    assert looked_at(tmp_path, **keywords).status == status  # type: ignore[arg-type]


def test_a_snapshot_that_is_being_written(tmp_path: Path) -> None:
    """The app writes while its driver reads: that passes by itself; what stays so is the app's."""
    assert looked_at(tmp_path / "torn", has=("Todo",), files={"torn": ""}).status == "pass"
    verdict = looked_at(tmp_path / "blind", has=("Todo",), files={"blind": ""})
    assert (verdict.status, verdict.summary) == ("fail", "the app shows nothing: `sh ./drive.sh snapshot` ended with 1")


def test_a_moved_card_is_the_same_card(tmp_path: Path) -> None:
    """The button near the card is clicked, and no other one."""
    verdict = looked_at(tmp_path, *MOVE)
    assert (verdict.status, verdict.summary) == ("pass", "card is the same widget still, #7")
    assert 'click role="button" name=/right/ near "Card B"' in verdict.evidence


def test_a_card_that_is_made_anew(tmp_path: Path) -> None:
    verdict = looked_at(tmp_path, *MOVE, files={"recreates": ""})
    assert (verdict.status, verdict.summary) == ("fail", "card is not the widget that it was")
    assert "#7 before, #70 now" in verdict.evidence


def test_typing_and_keys(tmp_path: Path) -> None:
    """A text stays one word, whatever is in it; a key goes to the view that was driven last."""
    text = "milk; touch $HOME 'x'"
    steps: tuple[LiveStep, ...] = (
        Type(text, Target((("role", Pattern("textbox")),))), Key("enter"),
        Expect("has", (Pattern(f'name="{text}"'), Pattern('name="key enter in main"'))),
        Expect("lacks", (Pattern("?"),)))
    assert looked_at(tmp_path, *steps).status == "pass"


def test_a_key_before_anything_was_driven(tmp_path: Path) -> None:
    """The first view has it."""
    assert looked_at(tmp_path, Key("tab"), has=("key tab in main",)).status == "pass"


def test_what_is_gone(tmp_path: Path) -> None:
    gone = Find(evolve(CARD_B, inside=Pattern("Todo")), absent=True)
    assert looked_at(tmp_path, gone).summary == 'role="text" name="Card B" in "Todo" is there still'
    assert looked_at(tmp_path / "moved", Click(RIGHT), gone).status == "pass"


def test_no_such_widget(tmp_path: Path) -> None:
    """What there is, is told."""
    verdict = looked_at(tmp_path, Click(Target((("name", Pattern("Card C")),))))
    assert (verdict.status, verdict.summary) == ("fail", 'no widget is name="Card C"')
    assert 'name="Card A"' in verdict.evidence


# ---- whose fault it is ----
def failing(folder: Path, *steps: LiveStep, marker: str) -> str:
    verdict = looked_at(folder, *steps, has=("Todo",), files={marker: ""})
    assert verdict.status == "fail"
    return verdict.summary


def test_an_app_that_cannot_be_built(tmp_path: Path) -> None:
    verdict = looked_at(tmp_path, files={"build.sh": "echo 'error: no such widget' >&2; exit 1"})
    assert (verdict.status, verdict.summary) == ("fail", "`sh ./build.sh` exited with 1")
    assert "error: no such widget" in verdict.evidence


def test_an_app_that_crashes_at_once(tmp_path: Path) -> None:
    """The app's fail, with what it said."""
    verdict = looked_at(tmp_path, has=("Todo",), files={"crash": ""})
    assert verdict.status == "fail"
    assert "died of SIGSEGV" in verdict.summary
    assert "app says hello" in verdict.evidence


def test_an_app_that_ends(tmp_path: Path) -> None:
    assert "the app ended with status 3" in failing(tmp_path, marker="leaves")


def test_an_app_that_dies_of_a_click(tmp_path: Path) -> None:
    assert "died of SIGKILL" in failing(tmp_path, Click(RIGHT), marker="dies")


def test_an_app_that_hangs(tmp_path: Path) -> None:
    """What drives it waits no longer than its limit."""
    live = evolve(LIVE, click=sh("sh ./drive.sh click {view} {id}", 1))
    verdict = looked_at(tmp_path, Click(RIGHT), live=live, files={"hangs": ""})
    assert verdict.status == "fail"
    assert "did not end within 1 s" in verdict.summary


def test_the_limit_of_all(tmp_path: Path) -> None:
    verdict = looked_at(tmp_path, Click(RIGHT), limit=1, files={"hangs": ""})
    assert (verdict.status, verdict.summary) == ("fail", "it was not done within the time limit of 1 s")


def test_a_click_that_is_refused(tmp_path: Path) -> None:
    verdict = looked_at(tmp_path, Click(RIGHT), files={"refuses": ""})
    assert verdict.status == "fail"
    assert "error: not interactive" in verdict.evidence


def test_an_app_that_is_not_there(tmp_path: Path) -> None:
    """It should have been built."""
    verdict = looked_at(tmp_path, live=evolve(LIVE, launch=sh("out/app")))
    assert (verdict.status, verdict.summary) == (
        "fail", "the app cannot be started: out/app: No such file or directory")


def test_a_driver_that_is_not_installed(tmp_path: Path) -> None:
    """No fault of the app's."""
    verdict = looked_at(tmp_path, has=("x",), live=evolve(LIVE, snapshot=sh("no-such-driver")))
    assert verdict.status == "error"
    assert "no-such-driver" in verdict.summary


def test_a_display_that_does_not_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error, and nothing of the app's."""
    from evalkit.grade import live_session

    monkeypatch.setattr(live_session, "_DISPLAY", ("sh", "-c", "echo no screens found >&2; exit 1"))
    monkeypatch.setattr(module, "_needs_display", lambda place: True)
    verdict = looked_at(tmp_path, has=("Todo",))
    assert verdict.status == "error"
    assert "the display does not start: no screens found" in verdict.summary


def test_no_picture_is_told_and_decides_nothing(tmp_path: Path) -> None:
    verdict = looked_at(tmp_path, has=("Todo",), files={"no-pictures": ""})
    assert verdict.status == "pass"
    assert "there is no screenshot of main" in verdict.evidence
    assert not (tmp_path / "screenshots/live.png").exists()


def test_old_pictures_are_removed(tmp_path: Path) -> None:
    """Those of this check alone."""
    folder = tmp_path / "screenshots"
    folder.mkdir()
    for name in ("live.png", "live-old.png", "live.txt", "other.png"):
        (folder / name).touch()
    assert looked_at(tmp_path, has=("Todo",), files={"build.sh": "exit 1"}).status == "fail"
    assert [path.name for path in folder.iterdir()] == ["other.png"]


# ---- where nothing is shown ----
def test_where_it_is_skipped(tmp_path: Path) -> None:
    """Each with its reason."""
    assert looked_at(tmp_path / "a", place=LiveLane(SKIPPED)) == Verdict("skipped", "skip_live=1")
    assert looked_at(tmp_path / "b", place=LiveLane("there is no image")).summary == "there is no image"
    verdict = looked_at(tmp_path / "c", live=None)
    assert (verdict.status, verdict.summary) == ("skipped", "no `live` block says how the app is built and started")
