"""What a shell command may have written."""

from __future__ import annotations

import pytest

from evalkit.execute.shell_writes import shell_writes


def named(command: str) -> list[str]:
    """The paths that it may have written; `/` stands for all below, `*` for a pattern."""
    found = shell_writes(command, {("tool", "test"), ("sh", "check.sh")})
    assert "" == found.whole, found.whole
    return [name.path + "/" * name.below + "*" * name.glob for name in found.paths]


@pytest.mark.parametrize("command", [
    "ls -la src; cat 'a b.txt' | grep -n \"x > y\" | head -5",
    "sed -n '1,20p' src/main.zig && awk '$1 > 3 {print $(NF)}' log",
    "find . -name '*.zig' -exec grep -l foo {} \\; 2>/dev/null",
    "git status --short && git diff HEAD~1 -- src | cat",
    "npm test 2>&1 | tail -20",
    "npx vitest run --reporter=dot",
    "zig test src/main.zig || true",
    "FOO=1 BAR=2 timeout 60 cargo test --quiet",
    "python3 -m pytest -q; python -m json.tool package.json",
    "tool test -Dplatform=null; sh check.sh",
    "if [ -f a ]; then cat a; else echo none; fi",
    "for f in *.txt; do wc -l \"$f\"; done",
    "echo \"$(ls | wc -l) files\" # rm -rf x",
    "cat <<'EOF'\nrm -rf everything\nEOF",
    "node --version; which zig; mkdir -p a/{b,c}",
    "cat x | xargs grep y",
    "",
])
def test_commands_that_only_read_name_nothing(command: str) -> None:
    """Looking around, running tests and the case's own checks leave the tree as it is."""
    assert [] == named(command)


@pytest.mark.parametrize(("command", "paths"), [
    ("echo hi > a.txt; echo more >> 'b c.txt' 2>&1", ["a.txt", "b c.txt"]),
    ("cat > src/x.zig <<EOF\nplain text\nEOF", ["src/x.zig"]),
    ("ls | tee -a log.txt", ["log.txt"]),
    ("rm -rf src/old a.txt", ["src/old/", "a.txt/"]),
    ("mv a b", ["a/", "b/"]),
    ("cp -r a b", ["b/"]),
    ("sed -i.bak -e 's/a/b/' one two", ["one", "one.bak", "two", "two.bak"]),
    ("sed -i 's/a/b/' one", ["one"]),
    ("touch $(rm x) y", None),
    ("echo $(rm x)", ["x/"]),
    ("echo `touch z`", ["z"]),
    ("diff <(ls) <(rm q)", ["q/"]),
    ("bash -c 'touch inner'", ["inner"]),
    ("rm *.txt", ["*.txt/*"]),
    ("find src -name x -delete", ["src/"]),
    ("npm init -y", ["package.json", "package-lock.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock", "node_modules/"]),
    ("zig init", ["build.zig", "build.zig.zon", "src/"]),
    ("git add -A && git commit -qm 'x'", [".git/", ".git/"]),
    ("curl -s -o page.html http://127.0.0.1/", ["page.html"]),
    ("if true; then touch yes; fi", ["yes"]),
    ("sudo env A=1 nice -n 5 touch deep", ["deep"]),
    ("eslint --fix src", ["src/"]),
])
def test_commands_that_write_name_their_files(command: str, paths: list[str] | None) -> None:
    """Redirections, the arguments of programs that write, also within substitutions and other commands."""
    if paths is None:
        assert "it names files by what the shell fills in" == shell_writes(command).whole
    else:
        assert paths == named(command)


@pytest.mark.parametrize(("command", "why"), [
    ("node build.js", "`node build.js` may write any file"),
    ("./run.sh", "`./run.sh` may write any file"),
    ("bin/ls", "`bin/ls` may write any file"),
    ("python3 -c 'open(\"x\", \"w\")'", "`python` may write any file"),
    ("awk '{print > \"out\"}' x", "awk may write to files that its program names"),
    ("sed -n 's/a/b/w out' x", "sed writes to a file that its script names"),
    ("npm run build", "the package's `build` may write any file"),
    ("git checkout -- .", "`git checkout` may write any file"),
    ("$EDITOR x", "its program is what the shell fills in"),
    ("echo x > \"$OUT\"", "it names files by what the shell fills in"),
    ("rm ~/x", "it names files by what the shell fills in"),
    ("find . | xargs rm", "`xargs` names the files of a command that writes"),
    ("echo 'unfinished", "a quote has no end"),
    ("case $x in a) rm y;; esac", "it has a `case`"),
    ("cat <<EOF\n$(rm x)\nEOF", "a here document has commands in it"),
    ("vitest -u", "`vitest -u` may write any file"),
    ("bash -c 'make'", "`make` may write any file"),
    ("sh other.sh", "`sh other.sh` may write any file"),
    ("echo " + "$(" * 40 + ")" * 40, "its substitutions are nested too deeply"),
    ("ls >", "a redirection leads nowhere"),
])
def test_commands_that_may_write_anything_say_why(command: str, why: str) -> None:
    """An unknown program, a file that the words do not tell, a text that is not understood."""
    assert why == shell_writes(command, {("sh", "check.sh")}).whole


def test_folders_and_the_background() -> None:
    """Where later relative paths may lead, and that a command goes on."""
    assert ["src", None] == shell_writes("cd src && ls; cd \"$X\"").folders
    assert shell_writes("sleep 5 &").lasting
    assert not shell_writes("sleep 5 && ls").lasting
