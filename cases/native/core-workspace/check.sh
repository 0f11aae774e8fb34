#!/bin/sh
# Transpiles src/core.ts (types and subset rules) and compiles what it emits with the runtime kernel.
set -e
sdk=${NATIVE_SDK_SKILLS_ROOT:?"is the SDK's folder"}
mkdir -p .check
node "$sdk/build/ts_run.mjs" "$sdk/packages/core/src/cli.ts" src/core.ts -o .check/core.zig
cp "$sdk/packages/core/rt/rt.zig" .check/rt.zig
cat >.check/all.zig <<'END'
test { @import("std").testing.refAllDecls(@import("core.zig")); }
END
zig test --cache-dir .check/zig-cache .check/all.zig >.check/zig.log 2>&1 || { cat .check/zig.log >&2; exit 1; }
echo ok
