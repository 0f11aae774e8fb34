// Edge functions of the workspace, called with requests in a process of their own (hosted.mjs).
//
// `fetch` is answered there from the `world` of the test. What a function says can only be what it answers.
import { join } from "node:path";
import { hosted } from "./hosted.mjs";
import { file, workspace } from "./harness.mjs";

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
  const functions = join(workspace, "supabase/functions");
  const answer = await hosted("edge-host.mjs", name, { entry, url: `http://localhost/functions/v1/${name}${path}`, request, world },
    { args: [functions], read: [functions, join(workspace, "package.json")] });
  let json = null;
  try {
    json = JSON.parse(answer.text);
  } catch {
    // not every answer is JSON
  }
  return { ...answer, json };
}

/** A token as the platform gives them out; it is valid where a world's `users` has it. */
export function token(payload) {
  const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const rest = { aud: "authenticated", role: "authenticated", exp: 4102444800 };
  return `${part({ alg: "HS256", typ: "JWT" })}.${part({ ...rest, ...payload })}.c2lnbmF0dXJl`;
}
