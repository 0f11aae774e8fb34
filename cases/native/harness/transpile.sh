# Transpiles src/core.ts, with all that it imports, to .evalkit/core.zig, and lays the kernel beside it.
set -e
sdk=${NATIVE_SDK_SKILLS_ROOT:?"is the SDK's folder"}
node "$sdk/build/ts_run.mjs" "$sdk/packages/core/src/cli.ts" src/core.ts -o .evalkit/core.zig
cp "$sdk/packages/core/rt/rt.zig" .evalkit/rt.zig
