// Loads the workspace's src/db.ts with a stand-in for Prisma's client, as a development server does: anew after a change.
import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";

globalThis.made = 0;
registerHooks({
  resolve(name, context, next) {
    if (name !== "@prisma/client") return next(name, context);
    return {
      url: "data:text/javascript,export class PrismaClient { constructor() { globalThis.made += 1; } $extends() { return this; } };"
        + "export default { PrismaClient }",
      shortCircuit: true,
    };
  },
});

const url = pathToFileURL(process.argv[2]).href;
try {
  const first = await import(`${url}?1`);
  const calls = [first.db(), first.db()];
  const once = globalThis.made;
  const second = await import(`${url}?2`);
  calls.push(second.db());
  process.send({ once, reloaded: globalThis.made, same: calls.every((client) => client === calls[0] && client !== undefined) });
} catch (error) {
  process.send({ error: String(error) });
}
