// The process of one call of an edge function: a small stand-in of Deno, and a project's API behind `fetch`.
import { pathToFileURL } from "node:url";
import { serve, wall } from "./walls.mjs";

const asked = [];
let world = {};
let handler = null;

const variables = () => world.env ?? {};
globalThis.Deno = {
  env: {
    get: (name) => variables()[name],
    has: (name) => name in variables(),
    toObject: () => ({ ...variables() }),
  },
  serve: (...args) => {
    handler = args.findLast((value) => typeof value === "function") ?? args.at(-1)?.handler;
    return { finished: new Promise(() => {}), shutdown: async () => {}, ref() {}, unref() {} };
  },
};
globalThis.EdgeRuntime = { waitUntil: () => {} };

const CLIENT = /^(npm:|jsr:|https:\/\/(esm\.sh|cdn\.jsdelivr\.net\/npm|cdn\.skypack\.dev)\/)?\/?@supabase\/supabase-js(@[^/]*)?(\/.*)?$/;
const source = (text) => ({ url: `data:text/javascript,${encodeURIComponent(text)}`, shortCircuit: true });
const send = wall(process.argv[2], (name, context, next) => {
  if (CLIENT.test(name)) return next("@supabase/supabase-js", { ...context, parentURL: import.meta.url });
  if (/edge-runtime\.d\.ts|@supabase\/functions-js/.test(name)) return source("export {}");
  if (/^https:\/\/deno\.land\/std[^/]*\/http\/server\.ts$/.test(name)) return source("export const serve = Deno.serve");
  if (/^(npm|jsr|https?):/.test(name)) throw new Error(`it imports ${name}, which the task does not name`);
  return undefined;
});

const json = (body, status = 200) =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json" } });

/** What a project's API answers, as far as the cases reach; other servers are the world's `sites`. */
function answer({ method, url, headers, body }) {
  const site = (world.sites ?? []).find((found) => url.startsWith(found.url));
  if (site) {
    if (site.status === 0) throw new TypeError("fetch failed");
    return typeof site.body === "string" ? new Response(site.body, { status: site.status }) : json(site.body, site.status);
  }
  const { pathname, origin } = new URL(url);
  if (origin !== world.url) throw new TypeError(`fetch failed: there is no ${origin}`);
  const bearer = (headers.authorization ?? "").replace(/^Bearer /i, "");
  const all = Object.values(world.users ?? {});
  if (pathname === "/auth/v1/user") {
    const user = world.users?.[bearer];
    return user ? json(user) : json({ code: 403, error_code: "bad_jwt", msg: "invalid JWT" }, 403);
  }
  if (pathname.startsWith("/auth/v1/admin/users")) {
    if (bearer !== world.serviceKey) return json({ code: 403, error_code: "not_admin", msg: "User not allowed" }, 403);
    if (world.adminFails) return json({ code: 422, error_code: "unexpected_failure", msg: world.adminFails }, 422);
    const id = pathname.split("/")[5];
    const user = all.find((found) => found.id === id);
    if (id && !user) return json({ code: 404, error_code: "user_not_found", msg: "User not found" }, 404);
    return json(id ? (method === "DELETE" ? {} : user) : { users: all });
  }
  return json({ message: `no such endpoint ${pathname}`, body }, 404);
}

globalThis.fetch = async (input, init) => {
  const request = new Request(input, init);
  const seen = {
    method: request.method, url: request.url, headers: Object.fromEntries(request.headers), body: await request.text(),
  };
  asked.push(seen);
  return answer(seen);
};

serve(send, async (message) => {
  world = message.world;
  Object.assign(process.env, variables());
  const loaded = await import(pathToFileURL(message.entry).href);
  handler ??= loaded.default?.fetch ?? loaded.default;
  if (typeof handler !== "function") return { error: "it serves nothing: there is no Deno.serve(handler)" };
  const { method, headers, body } = message.request;
  const response = await handler(new Request(message.url, { method, headers, body }), { remoteAddr: {} });
  if (!(response instanceof Response)) return { error: "it answers with something that is no Response" };
  return { status: response.status, headers: Object.fromEntries(response.headers), text: await response.text(), asked };
});
