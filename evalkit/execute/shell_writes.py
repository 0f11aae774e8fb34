"""Which files a shell command may have written, moved or deleted: for trees that are rebuilt from a transcript.

The answer errs on the side of doubt. A program that is known to only read names nothing; one that is known to write
names its arguments; one that nobody here knows, or whose files cannot be told from its words, may have written
anything. Running tests and checkers counts as reading: they are what agents do most, and what they leave (caches,
reports) is no source. Which other commands do no more than that, a case knows: those of its own checks (`harmless`).
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Sequence

from attrs import define, field, frozen

from evalkit.execute.shell import Unclear, Word, simple_commands

__all__ = ["Named", "ShellWrites", "shell_writes"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_READS = _words("""
    [ [[ : ag arch base64 basename bat bg break cat cmp col column comm continue cut date declare df diff dir dirname du
    echo egrep exit expand export expr false fg fgrep file fold free getent grep groups head hexdump hostname id
    jobs jq kill less let local locale look ls lsof man md5sum mkdir more mypy nl nproc numfmt od paste pgrep pkill
    printenv printf ps pwd pyright read readlink readonly realpath return rev rg seq set sha1sum sha256sum sha512sum
    shellcheck shift shopt sleep stat strings stty sum sync tac tail test top tput tr tree true tsort tty type
    ulimit umask uname unset uptime vdir wait wc whereis which who whoami yes
    ava flake8 jest mocha nosetests pylint pytest tap vitest
""")
_PATHS = _words("chmod chown dos2unix gofmt ln mv prettier rm rmdir rustfmt shred tee touch truncate unlink")
"""All of their arguments may be written, moved or deleted."""
_WRAPPERS = _words("builtin command env exec nice nohup npx bunx stdbuf sudo time timeout xargs")
_TESTS = frozenset({
    ("npm", "test"), ("npm", "t"), ("pnpm", "test"), ("yarn", "test"), ("bun", "test"), ("cargo", "test"),
    ("cargo", "check"), ("cargo", "clippy"), ("go", "test"), ("go", "vet"), ("zig", "test"), ("zig", "ast-check"),
    ("deno", "test"), ("deno", "check"), ("node", "--test"), ("node", "--check"), ("ruff", "check"), ("make", "test"),
    ("make", "check"),
})
_SCRIPTS = re.compile(r"(test|check|lint|typecheck|type-check|tsc)\b")
"""Names of a package's scripts that are taken for what they say."""
_GIT_READS = _words("blame branch cat-file describe diff grep help log ls-files ls-tree merge-base reflog remote "
                    "rev-list rev-parse shortlog show status tag version")
_GIT_OWN = _words("add commit config fetch gc init notes push")
_PACKAGES = ("package.json", "package-lock.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock", "node_modules/")
_ASKS = frozenset({"--version", "--help", "-h", "-V", "-v", "version", "help"})


@frozen
class Named:
    """A path as the command names it. below: and all that lies below it. glob: it is a pattern."""

    path: str
    below: bool = False
    glob: bool = False


@define
class ShellWrites:
    """paths: what may have been written. whole: why anything may have been, or "". folders: where `cd` leads, None
    for where nobody knows. lasting: it goes on in the background."""

    paths: list[Named] = field(factory=list)
    whole: str = ""
    folders: list[str | None] = field(factory=list)
    lasting: bool = False


def shell_writes(command: str, harmless: Collection[tuple[str, ...]] = ()) -> ShellWrites:
    """What a command may have written. harmless: beginnings of commands that are known to write nothing of interest."""
    found = ShellWrites()
    try:
        for simple in simple_commands(command):
            found.lasting |= simple.background
            for target in simple.outputs:
                if target.text != "/dev/null":
                    _name(found, target)
            _judge(found, simple.words, harmless)
    except Unclear as reason:
        found.whole = str(reason)
    return found


def _name(found: ShellWrites, word: Word, *, below: bool = False) -> None:
    if word.open:
        raise Unclear("it names files by what the shell fills in")
    path = word.text
    found.paths.append(Named(path.rstrip("/") or path, below or path.endswith("/"), word.glob))


def _own(found: ShellWrites, *paths: str) -> None:
    found.paths += [Named(path.rstrip("/"), below=path.endswith("/")) for path in paths]


def _judge(found: ShellWrites, words: Sequence[Word], harmless: Collection[tuple[str, ...]]) -> None:
    """Add what one simple command may have written. Raises `Unclear`, but not for what is known to be harmless."""
    try:
        if words:
            _judge_any(found, words, harmless)
    except Unclear:
        texts = [word.text for word in words]
        if any(word.open for word in words) or not any(tuple(texts[: len(known)]) == known for known in harmless):
            raise


def _judge_any(found: ShellWrites, words: Sequence[Word], harmless: Collection[tuple[str, ...]]) -> None:
    program, args = words[0], words[1:]
    name = posixpath.basename(program.text)
    texts = [word.text for word in words]
    if program.open:
        raise Unclear("its program is what the shell fills in")
    plain = [word for word in args if not word.text.startswith("-") or word.open]
    if "/" in program.text and not program.text.startswith(("/bin/", "/usr/")):
        raise _unknown(texts)  # a program of the workspace, whatever it is called
    if name in ("cd", "pushd", "popd"):
        found.folders.append(plain[0].text if plain and not plain[0].open and plain[0].text != "-" else None)
    elif name in _WRAPPERS:
        _wrapped(found, name, args, harmless)
    elif name in ("sh", "bash", "zsh", "dash") and len(args) == 2 and texts[1] in ("-c", "-lc") and not args[1].open:
        inner = shell_writes(args[1].text, harmless)
        if inner.whole:
            raise Unclear(inner.whole)
        found.paths += inner.paths
    elif args and all(word.text in _ASKS for word in args):
        return
    elif name in _READS:
        if any(text in ("-u", "--updateSnapshot", "--update-snapshots", "--fix") for text in texts) and name in (
                "jest", "vitest", "ava"):
            raise _unknown(texts)
    elif name in _PATHS:
        for word in plain:
            _name(found, word, below=name in ("rm", "mv", "chmod", "chown", "prettier"))
    elif name in ("cp", "install"):
        _copied(found, args, plain)
    elif (name, plain[0].text if plain else "") in _TESTS or (args and (name, args[0].text) in _TESTS):
        return
    elif name in _BY_NAME:
        _BY_NAME[name](found, args, plain)
    else:
        raise _unknown(texts)


def _unknown(texts: Sequence[str]) -> Unclear:
    said = " ".join(texts)
    return Unclear(f"`{said if len(said) <= 60 else said[:59] + '…'}` may write any file")


def _wrapped(found: ShellWrites, name: str, args: Sequence[Word], harmless: Collection[tuple[str, ...]]) -> None:
    """A command that runs another one."""
    rest = list(args)
    if name == "command" and rest and rest[0].text in ("-v", "-V"):
        return
    while rest and re.match(r"-|[\d.]+[smhd]?$|\w+=", rest[0].text):
        rest.pop(0)
    if name == "xargs":  # the names come from elsewhere
        inner = ShellWrites()
        _judge(inner, rest, harmless)
        if inner.paths or (rest and posixpath.basename(rest[0].text) in _PATHS | {"cp", "install"}):
            raise Unclear("`xargs` names the files of a command that writes")
    else:
        _judge(found, rest, harmless)


def _copied(found: ShellWrites, args: Sequence[Word], plain: Sequence[Word]) -> None:
    if any(word.text.startswith(("-t", "--target-directory")) for word in args) or len(plain) < 2:
        raise Unclear("it copies to where its words do not tell")
    _name(found, plain[-1], below=True)


# ---- programs that write by option ----
def _sed(found: ShellWrites, args: Sequence[Word], plain: Sequence[Word]) -> None:
    """`-i` writes its files, and with an ending (`-i.bak`) copies of them beside them."""
    scripts = [at for at, word in enumerate(args) if re.fullmatch(r"-[nErsz]*[ef]|--expression|--file", word.text)]
    files = [word for at, word in enumerate(args) if not word.text.startswith("-") and at - 1 not in scripts]
    if not scripts and not any(word.text.startswith(("-e", "-f", "--expression=", "--file=")) for word in args):
        files = files[1:]
    in_place = next((match for word in args if (match := re.match(r"(?:-[nErsz]*i|--in-place=?)(.*)", word.text))),
                    None)
    if in_place is not None:
        for word in files:
            _name(found, word)
            if in_place[1]:
                found.paths.append(Named(word.text + in_place[1], glob=word.glob))
    elif any(re.search(r"(?:^|[/;}])\s*w\s+\S", word.text) for word in args):
        raise Unclear("sed writes to a file that its script names")


def _awk(found: ShellWrites, args: Sequence[Word], plain: Sequence[Word]) -> None:
    if any(re.search(r"print[^;}]*>|system\s*\(|\|", word.text) for word in plain[:1]) or any(
            word.text.startswith(("-i", "-f")) for word in args):
        raise Unclear("awk may write to files that its program names")


def _find(found: ShellWrites, args: Sequence[Word], plain: Sequence[Word]) -> None:
    texts = [word.text for word in args]
    runs = [texts[at + 1] for at, text in enumerate(texts[:-1]) if text in ("-exec", "-execdir", "-ok", "-okdir")]
    if all(posixpath.basename(program) in _READS for program in runs) and not {
            "-delete", "-fprint", "-fprintf", "-fls", "-fprint0"} & set(texts):
        return
    starts = []
    for word in args:
        if word.text.startswith(("-", "(", "!")):
            break
        starts.append(word)
    for word in starts or [Word(".")]:
        _name(found, word, below=True)


def _git(found: ShellWrites, args: Sequence[Word], plain: Sequence[Word]) -> None:
    command = next((word.text for word in args if not word.text.startswith("-")), "")
    if any(word.text in ("-C", "-c") or word.text.startswith(("--git-dir", "--work-tree")) for word in args):
        raise Unclear("git works elsewhere, or with its own settings")
    if command in _GIT_OWN or (command in ("branch", "tag", "remote") and len(plain) > 1):
        _own(found, ".git/")
    elif command and command not in _GIT_READS:
        raise Unclear(f"`git {command}` may write any file")


def _packages(found: ShellWrites, args: Sequence[Word], plain: Sequence[Word]) -> None:
    """npm and its like."""
    command = plain[0].text if plain else ""
    script = plain[1].text if command in ("run", "run-script") and len(plain) > 1 else command
    if command in ("init", "install", "i", "ci", "add", "uninstall", "remove", "rm", "update") and (
            command != "init" or len(plain) == 1):
        _own(found, *_PACKAGES)
    elif command not in ("ls", "list", "view", "info", "outdated", "why", "config", "exec") and not _SCRIPTS.match(
            script):
        raise Unclear(f"the package's `{script}` may write any file")
    elif command == "exec":
        raise Unclear("`npm exec` may write any file")


def _zig(found: ShellWrites, args: Sequence[Word], plain: Sequence[Word]) -> None:
    command = plain[0].text if plain else ""
    if command == "build":
        _own(found, "zig-out/", ".zig-cache/")
    elif command == "init":
        _own(found, "build.zig", "build.zig.zon", "src/")
    elif command == "fmt":
        for word in plain[1:] if "--check" not in [word.text for word in args] else ():
            _name(found, word, below=True)
    else:
        raise Unclear(f"`zig {command}` may write any file")


def _cargo(found: ShellWrites, args: Sequence[Word], plain: Sequence[Word]) -> None:
    command = plain[0].text if plain else ""
    if command not in ("build", "run", "fetch"):
        raise Unclear(f"`cargo {command}` may write any file")
    _own(found, "target/", "Cargo.lock")
    if command == "run":
        raise Unclear("`cargo run` runs the program, which may write any file")


def _python(found: ShellWrites, args: Sequence[Word], plain: Sequence[Word]) -> None:
    texts = [word.text for word in args]
    if texts[:2] not in (["-m", "pytest"], ["-m", "unittest"], ["-m", "mypy"], ["-m", "py_compile"]) and not (
            texts[:2] == ["-m", "json.tool"] and len(texts) == 3):
        raise Unclear("`python` may write any file")


def _fetched(found: ShellWrites, args: Sequence[Word], plain: Sequence[Word]) -> None:
    """curl: to its output, unless a file is named."""
    for at, word in enumerate(args):
        if word.text in ("-o", "--output") and at + 1 < len(args):
            _name(found, args[at + 1])
        elif word.text.startswith(("-O", "--remote-name", "-J", "-o", "--output", "-K", "-c", "-D")) or (
                re.match(r"-[a-zA-Z]*[oO]", word.text)):
            raise Unclear("curl writes to a file that its words do not tell plainly")


def _second(found: ShellWrites, args: Sequence[Word], plain: Sequence[Word]) -> None:
    """Programs that read one file and write to another, if that is named."""
    for word in plain[1:]:
        _name(found, word)


def _sort(found: ShellWrites, args: Sequence[Word], plain: Sequence[Word]) -> None:
    if any(re.match(r"-[a-zA-Z]*o|--output", word.text) for word in args):
        raise Unclear("sort writes to a file")


def _compiler(found: ShellWrites, args: Sequence[Word], plain: Sequence[Word]) -> None:
    if "--noEmit" not in [word.text for word in args]:
        raise Unclear("`tsc` writes what it compiles")


def _linter(found: ShellWrites, args: Sequence[Word], plain: Sequence[Word]) -> None:
    if any(word.text.startswith("--fix") for word in args):
        for word in plain or [Word(".")]:
            _name(found, word, below=True)


def _formatter(found: ShellWrites, args: Sequence[Word], plain: Sequence[Word]) -> None:
    if not {"--check", "--diff"} & {word.text for word in args}:
        for word in plain or [Word(".")]:
            _name(found, word, below=True)


def _archive(found: ShellWrites, args: Sequence[Word], plain: Sequence[Word]) -> None:
    if not (args and re.fullmatch(r"-?[vzjJa]*t[vzjJf]*f?", args[0].text)):
        raise Unclear("`tar` may write any file")


_BY_NAME = {
    "sed": _sed, "gsed": _sed, "awk": _awk, "gawk": _awk, "mawk": _awk, "find": _find, "git": _git,
    "npm": _packages, "pnpm": _packages, "yarn": _packages, "bun": _packages, "zig": _zig, "cargo": _cargo,
    "python": _python, "python3": _python, "curl": _fetched, "sort": _sort, "uniq": _second, "xxd": _second,
    "tsc": _compiler, "eslint": _linter, "black": _formatter, "isort": _formatter, "tar": _archive,
}
