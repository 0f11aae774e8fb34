import { expect, test } from "vitest";
import { ALICE, BOB, CAROL, UNTOUCHED, history, once, project } from "./harness.mjs";

const RED = "00000000-0000-4000-8000-00000000000a";
const BLUE = "00000000-0000-4000-8000-00000000000b";

// Alice is in red, Bob too but muted; Carol is in blue.
const ready = once(async () => {
  const db = await project({
    between: (db) =>
      db.run(`
        insert into public.rooms (id, name) values ('${RED}', 'red'), ('${BLUE}', 'blue');
        insert into public.room_members (room_id, user_id, muted) values
          ('${RED}', '${ALICE}', false), ('${RED}', '${BOB}', true), ('${BLUE}', '${CAROL}', false);
        insert into public.room_messages (room_id, author_id, body) values
          ('${RED}', '${ALICE}', 'in red'), ('${BLUE}', '${CAROL}', 'in blue')`),
  });
  for (const topic of [`room:${RED}`, `room:${BLUE}`, "lobby", "room:17", `room:${RED}:x`]) {
    for (const extension of ["broadcast", "presence"]) {
      await db.rows("insert into realtime.messages (topic, extension, private) values ($1, $2, true)", [topic, extension]);
    }
  }
  return db;
});
/** What somebody who joins a channel may do there, as the service finds out. */
async function may(who: string, topic: string) {
  const at = { "realtime.topic": topic };
  const found: string[] = [];
  for (const extension of ["broadcast", "presence"]) {
    const seen = await (await ready()).by(
      who, "select extension from realtime.messages where topic = $1 and extension = $2", [topic, extension], at);
    expect(seen.error).toMatch(who === "anon" ? /^$|permission denied/ : /^$/);
    if (seen.count) found.push(`receive ${extension}`);
    const sent = await (await ready()).by(
      who, "insert into realtime.messages (topic, extension, private) values ($1, $2, true)", [topic, extension], at);
    expect(sent.error).toMatch(/^$|row-level security|permission denied/);
    if (!sent.error) found.push(`send ${extension}`);
  }
  return found;
}

test("what was applied before is as it was", async () => {
  expect(history()).toEqual([]);
  expect(await (await ready()).platform()).toEqual(UNTOUCHED);
});

test("a member receives and sends in their room", async () => {
  const all = ["receive broadcast", "send broadcast", "receive presence", "send presence"];
  expect(await may(ALICE, `room:${RED}`)).toEqual(all);
  expect(await may(CAROL, `room:${BLUE}`)).toEqual(all);
});

test("a member who is muted does not broadcast", async () => {
  expect(await may(BOB, `room:${RED}`)).toEqual(["receive broadcast", "receive presence", "send presence"]);
});

test("nobody receives or sends in another room", async () => {
  expect(await may(ALICE, `room:${BLUE}`)).toEqual([]);
  expect(await may(CAROL, `room:${RED}`)).toEqual([]);
});

test("there are no other channels", async () => {
  for (const topic of ["lobby", "room:17", "room:", "", `room:${RED}:x`, `${RED}`]) {
    expect(await may(ALICE, topic), topic).toEqual([]);
  }
});

test("visitors neither receive nor send, and no policy is made for them", async () => {
  expect(await may("anon", `room:${RED}`)).toEqual([]);
  const roles = (await (await ready()).policies("realtime.messages")).flatMap((policy) => policy.roles);
  expect(new Set(roles)).toEqual(new Set(["authenticated"]));
});

test("members read the messages of their room", async () => {
  const db = await ready();
  expect(await db.by(BOB, "select body from public.room_messages")).toMatchObject({ error: "", rows: [{ body: "in red" }] });
  expect(await db.by(CAROL, "select body from public.room_messages")).toMatchObject({ error: "", rows: [{ body: "in blue" }] });
});

test("visitors read no messages", async () => {
  const db = await ready();
  expect((await db.by("anon", "select body from public.room_messages")).rows).toEqual([]);
  expect(await db.security("public.room_messages")).toMatchObject({ on: true });
});

test("changes of the messages are sent out, and of no other table", async () => {
  const tables = await (await ready()).rows(
    "select schemaname || '.' || tablename as name from pg_publication_tables where pubname = 'supabase_realtime'");
  expect(tables.map((row) => row.name)).toEqual(["public.room_messages"]);
});

test("who is a member, and of what, is told to nobody else", async () => {
  const seen = await (await ready()).by(ALICE, "select user_id from public.room_members");
  expect(seen).toMatchObject({ error: "", rows: [{ user_id: ALICE }] });
});
