// Runs the hidden tests: node run.mjs WORKSPACE REPORT. Status 69: a part of the toolchain is not there, or the database does
// not start, which is no answer's fault.
//
// Everything that is loaded is ours: the configuration beside this file, vitest and the database of the toolchain. The
// workspace is read as data; its package.json, node_modules and configurations are never looked at.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, realpathSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = realpathSync(dirname(fileURLToPath(import.meta.url)));
const [workspace, report] = process.argv.slice(2);
const packages = process.env.SUPABASE_TESTS_PACKAGES ?? "";
const vitest = join(packages, "vitest/vitest.mjs");
const parts = ["@electric-sql/pglite", "@electric-sql/pglite-prepopulatedfs", "@supabase/supabase-js"];
const missing = [vitest, ...parts.map((name) => join(packages, name, "package.json"))].filter((path) => !existsSync(path));
/** Ends with the status of what is no answer's fault. */
function broken(why) {
  console.error(`${why}\nRemove ${join(packages, "../..")}, and the next run installs the toolchain anew.`);
  process.exit(69);
}
if (missing.length) broken(`the toolchain is not whole: there is no ${missing.join(", no ")}`);
if (!existsSync(join(here, "node_modules"))) symlinkSync(packages, join(here, "node_modules"));
const ran = spawnSync(
  process.execPath,
  // By the native loader, since the other one writes into node_modules, which is the toolchain's.
  [vitest, "run", "--config", join(here, "vitest.config.mjs"), "--configLoader=native", "--reporter=json",
    `--outputFile=${report}`],
  { cwd: here, stdio: "inherit", env: { ...process.env, EVAL_WORKSPACE: realpathSync(workspace) } },
);
const trouble = join(here, ".broken");
if (existsSync(trouble)) broken(`the database of the tests does not start: ${readFileSync(trouble, "utf8")}`);
process.exit(ran.status ?? 1);
