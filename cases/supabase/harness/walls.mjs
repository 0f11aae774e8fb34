// What holds code of the workspace, beside node's own permissions: those leave a process its network and its signals.
//
// Only packages of the toolchain and these files may import what reaches out; the workspace's modules get what works on
// values, and each other. What is told to the test carries the seal of the test's message, which they never see.
import { isBuiltin, registerHooks } from "node:module";
import { realpathSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const ON_VALUES = new Set(["assert", "async_hooks", "buffer", "crypto", "events", "path", "path/posix", "process", "punycode",
  "querystring", "stream", "stream/web", "string_decoder", "timers", "timers/promises", "url", "util"]);
const REACHING_OUT = ["_debugEnd", "_debugProcess", "_kill", "_linkedBinding", "_send", "binding", "_channel", "disconnect",
  "_disconnect", "dlopen", "execve", "getBuiltinModule", "kill", "send"];

const folder = (path) => `${pathToFileURL(realpathSync(path)).href}/`;
const ours = [folder(dirname(fileURLToPath(import.meta.url)))];
if (process.env.SUPABASE_TESTS_PACKAGES) ours.push(folder(process.env.SUPABASE_TESTS_PACKAGES));
const isOurs = (url) => ours.some((place) => url?.startsWith(place));

/** home: the folder of the workspace whose modules may be loaded. known(name): how a name that they import is resolved, if at all. */
export function wall(home, known = () => undefined) {
  const theirs = folder(home);
  const { _send } = process;
  for (const name of REACHING_OUT) Object.defineProperty(process, name, { value: undefined, configurable: false, writable: false });
  globalThis.WebSocket = class {
    constructor(url) {
      throw new Error(`there is no network: ${url}`);
    }
  };
  registerHooks({
    resolve(name, context, next) {
      if (isOurs(context.parentURL)) return next(name, context);
      const found = known(name, context, next);
      if (found) return found;
      if (isBuiltin(name)) {
        if (ON_VALUES.has(name.replace(/^node:/, ""))) return next(name, context);
        throw new Error(`it imports ${name}, which reaches out of the function`);
      }
      const resolved = next(name, context);
      if (resolved.url.startsWith("file:") && !resolved.url.startsWith(theirs)) throw new Error(`it imports ${name}, which is not its own`);
      return resolved;
    },
    load(url, context, next) {
      // Modules, whatever a package.json of the workspace says of them.
      if (!url.startsWith(theirs) || url.endsWith(".json")) return next(url, context);
      return next(url, { ...context, format: /\.[cm]?ts$/.test(new URL(url).pathname) ? "module-typescript" : "module" });
    },
  });
  return (value) => _send.call(process, value, undefined, {}, undefined);
}

/** Answer the test's one message: `answer(message)` makes what it is told. send: what `wall` gave. */
export function serve(send, answer) {
  process.once("message", async ({ seal, ...message }) => {
    let told;
    try {
      told = await answer(message);
    } catch (error) {
      told = { error: `it threw ${error?.message ?? error}` };
    }
    send({ ...told, seal });
  });
}
