// Runs the hidden tests: node run.mjs WORKSPACE REPORT. Status 69: vitest is not there, which is no answer's fault.
//
// Everything that is loaded is ours: the configuration beside this file, vitest and the database of the toolchain. The
// workspace is read as data; its package.json, node_modules and configurations are never looked at.
import { spawnSync } from "node:child_process";
import { existsSync, realpathSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = realpathSync(dirname(fileURLToPath(import.meta.url)));
const [workspace, report] = process.argv.slice(2);
const packages = process.env.SUPABASE_TESTS_PACKAGES ?? "";
const vitest = join(packages, "vitest/vitest.mjs");
if (!existsSync(vitest)) {
  console.error("there is no vitest at $SUPABASE_TESTS_PACKAGES: is the toolchain installed?");
  process.exit(69);
}
if (!existsSync(join(here, "node_modules"))) symlinkSync(packages, join(here, "node_modules"));
const ran = spawnSync(
  process.execPath,
  // By the native loader, since the other one writes into node_modules, which is the toolchain's.
  [vitest, "run", "--config", join(here, "vitest.config.mjs"), "--configLoader=native", "--reporter=json",
    `--outputFile=${report}`],
  { cwd: here, stdio: "inherit", env: { ...process.env, EVAL_WORKSPACE: realpathSync(workspace) } },
);
process.exit(ran.status ?? 1);
