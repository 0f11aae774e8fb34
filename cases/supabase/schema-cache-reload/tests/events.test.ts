import { expect, test } from "vitest";
import { ALICE, UNTOUCHED, history, once, project } from "./harness.mjs";

const heard: string[] = [];
let before = 0;

const ready = once(async () => {
  const db = await project({
    between: async (db) => {
      await db.run(`insert into public.events (organizer_id, title, place, starts_at) values
        ('${ALICE}', 'Concert', 'Hall', now() + interval '2 days'), ('${ALICE}', 'Fair', 'Yard', now() + interval '1 day'),
        ('${ALICE}', 'Past', 'Hall', now() - interval '1 day')`);
      await db.engine.listen("pgrst", (payload: string) => heard.push(payload));
      before = heard.length;
    },
  });
  await db.rows("select 1");
  return db;
});
const titles = async (sql: string, who = ALICE) => {
  const done = await (await ready()).by(who, sql);
  return done.error || done.rows.map((row) => row.title);
};

test("what was applied before is as it was", async () => {
  expect(history()).toEqual([]);
  expect(await (await ready()).platform()).toEqual(UNTOUCHED);
});

test("the API is told to look at the schema again", async () => {
  const db = await ready();
  for (let turn = 0; turn < 20 && heard.length === before; turn++) {
    await new Promise((done) => setTimeout(done, 50));
    await db.rows("select 1");
  }
  expect(heard.slice(before)).toContain("reload schema");
});

test("an event has a capacity above zero, or none", async () => {
  const db = await ready();
  const add = `insert into public.events (organizer_id, title, starts_at, capacity) values ('${ALICE}', 'x', now(), $1)`;
  expect((await db.by(ALICE, add, [20])).error).toBe("");
  expect((await db.by(ALICE, add, [null])).error).toBe("");
  expect((await db.by(ALICE, add, [0])).error).toMatch(/check constraint|violates/);
  expect(await db.value("select count(*)::int from public.events where capacity is not null")).toBe(0);
});

test("the place of an event is its venue now", async () => {
  const db = await ready();
  expect(await db.rows("select title, venue from public.events order by title")).toEqual([
    { title: "Concert", venue: "Hall" }, { title: "Fair", venue: "Yard" }, { title: "Past", venue: "Hall" },
  ]);
  const columns = await db.rows(
    "select attname as name from pg_attribute where attrelid = 'public.events'::regclass and attnum > 0 and not attisdropped");
  expect(columns.map((row) => row.name)).not.toContain("place");
});

test("upcoming events are listed as before", async () => {
  expect(await titles("select title from public.upcoming_events(max_count => 5)")).toEqual(["Fair", "Concert"]);
  expect(await titles("select title from public.upcoming_events(max_count => 1)")).toEqual(["Fair"]);
});

test("upcoming events of one venue are listed", async () => {
  const sql = "select title, venue, capacity from public.upcoming_events(max_count => 5, at_venue => 'Hall')";
  expect(await titles(sql)).toEqual(["Concert"]);
});

test("there is one function of that name", async () => {
  expect(await (await ready()).value(
    "select count(*)::int from pg_proc where proname = 'upcoming_events' and pronamespace = 'public'::regnamespace")).toBe(1);
});

test("only signed-in people call it", async () => {
  const db = await ready();
  const rights = await db.rows(
    `select r as role, bool_or(has_function_privilege(r, oid, 'execute')) as may
       from pg_proc, unnest(array['anon', 'authenticated']) r where proname = 'upcoming_events' group by r order by r`);
  expect(rights).toEqual([{ role: "anon", may: false }, { role: "authenticated", may: true }]);
});
