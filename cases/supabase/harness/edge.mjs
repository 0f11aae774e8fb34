// Edge functions of the workspace, called with requests in a process of their own.
//
// That process cannot write or start anything, and has no network: `fetch` is answered from the `world` of the test. What
// a function says can only be what it answers, so nothing that it does to its process makes a test pass.
import { fork } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { file, workspace } from "./harness.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const PATIENCE = 15_000;

/**
 * Call a function of the workspace: {status, headers, text, json, asked}, where `asked` are the requests that it sent on,
 * each {method, url, headers, body}. Raises an error where it cannot be loaded, ends its process or does not answer.
 *
 * world: env (what `Deno.env` has), users (the accounts by their token), serviceKey, anonKey, url (the project's), sites
 * (answers of other servers: {url, status, body}, the first whose url the asked one begins with).
 */
export async function call(name, { method = "POST", headers = {}, body, path = "" } = {}, world = {}) {
  const entry = join(workspace, "supabase/functions", name, "index.ts");
  if (file(`supabase/functions/${name}/index.ts`) === null) throw new Error(`there is no supabase/functions/${name}/index.ts`);
  const request = { method, headers, body: body === undefined || typeof body === "string" ? body : JSON.stringify(body) };
  const child = fork(join(here, "edge-host.mjs"), [], {
    env: { PATH: process.env.PATH, NO_COLOR: "1" },
    execArgv: [
      "--permission", "--disable-warning=SecurityWarning", "--disable-warning=ExperimentalWarning",
      `--allow-fs-read=${join(workspace, "supabase/functions")}`, `--allow-fs-read=${join(workspace, "package.json")}`,
      `--allow-fs-read=${here}`, `--allow-fs-read=${process.env.SUPABASE_TESTS_PACKAGES}`,
    ],
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  let said = "";
  child.stdout.on("data", (data) => (said += data));
  child.stderr.on("data", (data) => (said += data));
  try {
    const answer = await new Promise((done, failed) => {
      const timer = setTimeout(() => failed(new Error(`${name} did not answer in ${PATIENCE / 1000} s`)), PATIENCE);
      child.on("message", (message) => (clearTimeout(timer), done(message)));
      child.on("exit", (code) => (clearTimeout(timer), failed(new Error(`${name} ended its process (${code}): ${said.slice(-800)}`))));
      child.send({ entry, url: `http://localhost/functions/v1/${name}${path}`, request, world });
    });
    if (answer.error) throw new Error(`${name}: ${answer.error}`);
    let json = null;
    try {
      json = JSON.parse(answer.text);
    } catch {
      // not every answer is JSON
    }
    return { ...answer, json, said };
  } finally {
    child.kill("SIGKILL");
  }
}

/** A token as the platform gives them out; it is valid where a world's `users` has it. */
export function token(payload) {
  const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const rest = { aud: "authenticated", role: "authenticated", exp: 4102444800 };
  return `${part({ alg: "HS256", typ: "JWT" })}.${part({ ...rest, ...payload })}.c2lnbmF0dXJl`;
}
