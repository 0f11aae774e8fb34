"""Final trees rebuilt from transcripts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from evalkit.errors import HarnessError
from evalkit.execute.pack import pack
from evalkit.execute.rebuild import rebuild
from evalkit.execute.rebuilt import Entry, Rebuilt, base_tree
from evalkit.execute.tree import unpack
from tests.unit.execute.transcripts import HOME, Transcript

BASE: Mapping[str, bytes] = {"README.md": b"read me\n", "src/main.zig": b"one\ntwo\none\n", "win.txt": b"a\r\nb\r\n"}


def built(folder: Path, lines: Transcript, base: Mapping[str, bytes] = BASE, *, links: Mapping[str, str] | None = None,
          **how: Any) -> Rebuilt:
    entries = {name: Entry.of(b"file", data) for name, data in base.items()}
    entries |= {name: Entry.of(b"link", target.encode()) for name, target in (links or {}).items()}
    return rebuild(entries, lines.save(folder), **how)


def texts(tree: Rebuilt) -> dict[str, bytes]:
    return {name: entry.data for name, entry in tree.entries.items()}


@pytest.mark.parametrize("session", [False, True])
def test_successful_calls_are_laid_in_order(tmp_path: Path, session: bool) -> None:
    """Write, Edit, Edit of all, MultiEdit: over the workspace, with absolute roots of another machine."""
    lines = Transcript(session).write("new.txt", "x y\n").edit("src/main.zig", "one", "1", every=True)
    lines.multi_edit("new.txt", ("x", "z"), ("z y", "done")).edit("README.md", "read", "Read")
    tree = built(tmp_path, lines)
    assert {**BASE, "new.txt": b"done\n", "src/main.zig": b"1\ntwo\n1\n", "README.md": b"Read me\n"} == texts(tree)
    assert ({}, "", ()) == (tree.uncertain, tree.whole, tree.notes)


def test_denied_and_failed_calls_are_not_laid(tmp_path: Path) -> None:
    """What was not carried out changed nothing."""
    lines = Transcript().write("a.txt", "A", error=True, text="Claude requested permissions to write to a.txt")
    lines.write("b.txt", "B", error=True).edit("README.md", "read", "x", error=True)
    lines.bash("rm README.md", error=True, text="Permission to use Bash with command rm README.md has been denied.")
    tree = built(tmp_path, lines)
    assert (BASE, {}, "") == (texts(tree), tree.uncertain, tree.whole)


def test_edits_follow_claude_codes_rules(tmp_path: Path) -> None:
    """Line ends stay; a deleted text takes the end of its line along; an empty text makes the file."""
    lines = Transcript().edit("win.txt", "a\nb", "x\ny").edit("src/main.zig", "one\ntwo", "").edit("made", "", "m\n")
    tree = built(tmp_path, lines)
    assert {**BASE, "win.txt": b"x\r\ny\r\n", "src/main.zig": b"one\n", "made": b"m\n"} == texts(tree)


def test_what_the_tool_tells_is_believed_more(tmp_path: Path) -> None:
    """An Edit's result tells the file before it: a file that is doubtful, or differs, is known again."""
    lines = Transcript().bash("sed -i 's/read/write/' README.md")
    detail = {"originalFile": "write me\n", "oldString": "write\u2019s", "newString": "x", "userModified": False}
    lines.edit("README.md", "write", "W", detail={**detail, "oldString": "write", "newString": "W"})
    tree = built(tmp_path, lines)
    assert (b"W me\n", {}) == (texts(tree)["README.md"], tree.uncertain)


@pytest.mark.parametrize(("how", "why"), [
    (lambda lines: lines.edit("README.md", "nowhere", "x"),
     "the text that its Edit replaces is not in the rebuilt file (line 2)"),
    (lambda lines: lines.edit("src/main.zig", "one", "x"), "the text that its Edit replaces is there 2 times (line 2)"),
    (lambda lines: lines.write("README.md", "x", detail={"userModified": True, "content": "x"}),
     "a person changed what its Write wrote (line 2)"),
    (lambda lines: lines.call("Write", {"file_path": f"{HOME}/README.md", "content": "x"}) and lines,
     "the transcript ends before the result of its Write"),
    (lambda lines: lines.result(lines.call("NotebookEdit", {"notebook_path": f"{HOME}/n.ipynb", "new_source": "x"})),
     "a notebook's cells were edited, which is not rebuilt"),
    (lambda lines: lines.bash("rm README.md"), "a shell command may have written it (line 2: rm README.md)"),
    (lambda lines: lines.bash(f"cd src && echo x > {HOME}/README.md"),
     f"a shell command may have written it (line 2: cd src && echo x > {HOME}/README.md)"),
])
def test_what_cannot_be_rebuilt_is_told_per_file(tmp_path: Path, how: Any, why: str) -> None:
    """Each with its reason; the rest of the tree is known."""
    lines = Transcript()
    how(lines)
    tree = built(tmp_path, lines)
    assert [why] == list(tree.uncertain.values())
    assert "" == tree.doubt(("win.txt",))
    assert f"its file {next(iter(tree.uncertain))} cannot be rebuilt: {why}" == tree.doubt(None)


@pytest.mark.parametrize(("how", "why"), [
    (lambda lines: lines.bash("node gen.js"), "`node gen.js` may write any file (line 2: node gen.js)"),
    (lambda lines: lines.result(lines.call("mcp__files__put", {})),
     "the tool mcp__files__put may have written any file (line 2)"),
    (lambda lines: lines.result(lines.call("Agent", {"prompt": "help"})),
     "a sub-agent worked (line 2) whose calls are not told"),
    (lambda lines: lines.result("toolu_unknown"),
     "line 2 of the transcript is not known: it is the result of a call that is not there"),
    (lambda lines: lines.bash("rm *").bash("ls") and lines.bash("rm -rf ."),
     "a shell command may have written it (line 6: rm -rf .)"),
])
def test_what_may_have_written_anything_makes_the_whole_tree_doubtful(tmp_path: Path, how: Any, why: str) -> None:
    """But for files that are written later, and asked for by their names."""
    lines = Transcript()
    how(lines)
    assert why == built(tmp_path, lines).whole
    lines = Transcript().bash("node gen.js").write("a.txt", "A")
    tree = built(tmp_path, lines)
    assert "" == tree.doubt(("a.txt",))
    assert tree.doubt(("*.txt",)).startswith("its tree cannot be rebuilt: `node gen.js` may write any file")
    assert tree.doubt(("README.md",))


def test_a_command_in_the_background_goes_on(tmp_path: Path) -> None:
    """What it may write stays doubtful, whatever is written after its start."""
    lines = Transcript().bash("sleep 1 > a.txt &").write("a.txt", "A").bash("npm run dev &").write("b.txt", "B")
    tree = built(tmp_path, lines)
    assert tree.doubt(("a.txt",))
    assert tree.doubt(("b.txt",))


def test_a_sub_agent_whose_calls_are_there(tmp_path: Path) -> None:
    """Its calls are laid as those of the agent."""
    lines = Transcript()
    task = lines.call("Task", {"prompt": "help"})
    lines.result(lines.call("Write", {"file_path": f"{HOME}/sub.txt", "content": "s"}, parent_tool_use_id=task),
                 parent_tool_use_id=task)
    tree = built(tmp_path, lines.result(task))
    assert (b"s", "") == (texts(tree)["sub.txt"], tree.whole)


def test_reading_commands_leave_the_tree_as_it_is(tmp_path: Path) -> None:
    """Looking around, tests, and the case's own commands."""
    lines = Transcript().bash("ls && cat README.md").bash("npm test").bash("tool test -Dx").bash("echo x > /dev/null")
    tree = built(tmp_path, lines.bash("echo x > /tmp/elsewhere"), harmless={("tool", "test")})
    assert ({}, "") == (tree.uncertain, tree.whole)


@pytest.mark.parametrize(("cwd", "path"), [
    (HOME, f"{HOME}/sub/../a.txt"), (HOME, "a.txt"), (HOME, "/workspace/a.txt"), ("/workspace", "/workspace/a.txt"),
    ("/private/tmp/app", "/tmp/app/a.txt"), ("/tmp/app", "/private/tmp/app/a.txt"),
    ("C:\\work\\app", "c:\\work\\app\\a.txt"), ("", "/workspace/a.txt"),
])
def test_roots(tmp_path: Path, cwd: str, path: str) -> None:
    """The agent's own folder wherever it was, its other names, and /workspace stand for the tree."""
    lines = Transcript(cwd=cwd)
    tree = built(tmp_path, lines.result(lines.call("Write", {"file_path": path, "content": "A"})))
    assert (b"A", ()) == (texts(tree).get("a.txt"), tree.notes)


@pytest.mark.parametrize("path", [
    "/etc/passwd", f"{HOME}/../x", f"{HOME}-other/x", f"{HOME}/out/x", f"{HOME}/loop/x", f"{HOME}/\0", "../x",
    f"{HOME}", f"{HOME}/{'x' * 3000}", f"{HOME}/\ud800",
])
def test_nothing_leaves_the_tree(tmp_path: Path, path: str) -> None:
    """Other folders, `..`, links that lead out or in circles, impossible names: left out, and said."""
    lines = Transcript()
    lines.result(lines.call("Write", {"file_path": path, "content": "A"}))
    tree = built(tmp_path, lines, links={"out": "/etc", "loop": "loop"})
    assert set(BASE) | {"out", "loop"} == set(tree.entries)
    assert "left out" in tree.notes[0]


def test_files_are_written_through_links(tmp_path: Path) -> None:
    """As on a disk: the link stays, its target changes."""
    lines = Transcript().write("lnk/n.txt", "n").edit("lnk/main.zig", "two", "2")
    tree = built(tmp_path, lines, links={"lnk": "src"})
    assert (b"n", b"one\n2\none\n") == (texts(tree)["src/n.txt"], texts(tree)["src/main.zig"])
    tree.write(tmp_path / "tree")
    assert "n" == (tmp_path / "tree/lnk/n.txt").read_text()


def test_a_transcript_that_does_not_tell_its_folder(tmp_path: Path) -> None:
    """Absolute paths mean nothing then: nothing is known."""
    tree = built(tmp_path, Transcript(cwd="").write("a.txt", "A"))
    assert "its transcript does not tell in which folder the agent worked" == tree.whole


def test_doubts_reach_what_globs_may_match(tmp_path: Path) -> None:
    """A folder that was removed or made is doubtful below; files that are only asked about elsewhere are known."""
    tree = built(tmp_path, Transcript().bash("rm -rf src"))
    assert [True, True, True, True, False, False] == [bool(tree.doubt((glob,))) for glob in (
        "src/*.zig", "**/*.zig", "src/deep/x", "s*/*", "*.md", "win.txt")]


def test_caches_have_no_part(tmp_path: Path) -> None:
    """What the case's final trees never hold is neither in the tree nor in doubt."""
    tree = built(tmp_path, Transcript().bash("zig build").write("zig-out/x", "x"), caches=("zig-out", ".zig-cache"))
    assert (set(BASE), {}) == (set(tree.entries), tree.uncertain)


def test_a_rebuilt_tree_is_like_a_packed_one(tmp_path: Path) -> None:
    """The manifest has the digests that packing gives, programs and links too; the base is read from an archive."""
    source = tmp_path / "source"
    source.mkdir()
    (source / "run.sh").write_text("true\n")
    (source / "run.sh").chmod(0o755)
    (source / "lnk").symlink_to("run.sh")
    before = pack(source, tmp_path / "base.tar.zst")
    base = base_tree(tmp_path / "base.tar.zst")
    tree = rebuild(base, Transcript().edit("run.sh", "true", "false").save(tmp_path))
    assert set(before.files) == set(tree.manifest.files)
    tree.write(tmp_path / "written")
    again = pack(tmp_path / "written", tmp_path / "again.tar.zst")
    assert again.files == tree.manifest.files
    unpack(tmp_path / "again.tar.zst", tmp_path / "unpacked")
    assert "false\n" == (tmp_path / "unpacked/lnk").read_text()


@pytest.mark.parametrize("data", [b"", b"total garbage\n", b"\x00\xff\xfe" * 3000, b'garbage\n{"x\n[1,2]\nnull\n',
                                  b'{"type":"system","subtype":"init","cwd":"/w"}\n'])
def test_a_transcript_that_tells_nothing_is_an_error(tmp_path: Path, data: bytes) -> None:
    """An agent that did nothing says so; of a damaged transcript nobody knows what the agent did."""
    (tmp_path / "transcript.jsonl").write_bytes(data)
    with pytest.raises(HarnessError, match="its transcript tells of no call and of no end"):
        rebuild({}, tmp_path / "transcript.jsonl")
