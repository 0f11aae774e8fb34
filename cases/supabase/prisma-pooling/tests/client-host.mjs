// Loads the workspace's src/db.ts with a stand-in for Prisma's client, as a development server does: anew after a change.
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import { serve, wall } from "./walls.mjs";

const STAND_IN = `data:text/javascript,${encodeURIComponent(`
  let made = 0;
  export class PrismaClient { constructor() { made += 1; } $extends() { return this; } }
  export default { PrismaClient };
  export const count = () => made;
`)}`;
const { count } = await import(STAND_IN);
const entry = process.argv[2];
const send = wall(dirname(entry), (name) => (name === "@prisma/client" ? { url: STAND_IN, shortCircuit: true } : undefined));

serve(send, async () => {
  const url = pathToFileURL(entry).href;
  const first = await import(`${url}?1`);
  const calls = [first.db(), first.db()];
  const once = count();
  const second = await import(`${url}?2`);
  calls.push(second.db());
  return { once, reloaded: count(), same: calls.every((client) => client === calls[0] && client !== undefined) };
});
