// Code of the workspace in a process of its own, which can write nothing, start nothing and reach nothing but the test.
import { fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const PATIENCE = 15_000;
const LONGEST = 20_000;

/**
 * What a host (a program beside the tests, see walls.mjs) answers to a message, and as `said` the end of what was printed.
 * Raises an error where it tells one, ends its process or does not answer.
 *
 * name: what is spoken of in errors. args: of the host. read: paths that may be read, besides the host's own. env: further variables.
 */
export async function hosted(host, name, message, { args = [], read = [], env = {} } = {}) {
  const seal = randomUUID();
  const packages = process.env.SUPABASE_TESTS_PACKAGES;
  const readable = [...read, join(here, host), join(here, "walls.mjs"), join(here, "node_modules"), packages];
  const child = fork(join(here, host), args, {
    env: { PATH: process.env.PATH, NO_COLOR: "1", SUPABASE_TESTS_PACKAGES: packages, ...env },
    execArgv: ["--permission", "--disable-warning=SecurityWarning", "--disable-warning=ExperimentalWarning",
      ...readable.map((path) => `--allow-fs-read=${path}`)],
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (said = (said + data).slice(-LONGEST)));
  try {
    const answer = await new Promise((done, failed) => {
      const timer = setTimeout(() => failed(new Error(`${name} did not answer in ${PATIENCE / 1000} s`)), PATIENCE);
      const end = (act, value) => (clearTimeout(timer), act(value));
      child.on("message", (told) => {
        if (told?.seal === seal) end(done, told);
        else end(failed, new Error(`${name} speaks to the test itself, not by what it answers`));
      });
      child.on("error", (error) => end(failed, error));
      child.on("exit", (code) => end(failed, new Error(`${name} ended its process (${code}): ${said.slice(-800)}`)));
      child.send({ ...message, seal });
    });
    if (answer.error) throw new Error(`${name}: ${answer.error}`);
    return { ...answer, said };
  } finally {
    child.kill("SIGKILL");
  }
}
