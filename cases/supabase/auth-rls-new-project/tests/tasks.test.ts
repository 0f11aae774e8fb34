import { expect, test } from "vitest";
import { ALICE, BOB, UNTOUCHED, once, perRow, project } from "./harness.mjs";

const ready = once(async () => {
  const db = await project();
  await db.run(`insert into public.tasks (user_id, title) values
    ('${ALICE}', 'water the plants'), ('${ALICE}', 'call home'), ('${BOB}', 'buy a tent')`);
  return db;
});

test("the platform is as it was", async () => {
  expect(await (await ready()).platform()).toEqual(UNTOUCHED);
});

test("row level security is on", async () => {
  expect(await (await ready()).security("public.tasks")).toMatchObject({ on: true });
});

test("a person sees their own tasks only", async () => {
  const { rows } = await (await ready()).by(ALICE, "select title from public.tasks order by title");
  expect(rows.map((row) => row.title)).toEqual(["call home", "water the plants"]);
});

test("a task that a person adds is theirs without their saying so", async () => {
  const done = await (await ready()).by(BOB, "insert into public.tasks (title) values ('x') returning user_id, done");
  expect(done).toMatchObject({ error: "", rows: [{ user_id: BOB, done: false }] });
});

test("nobody adds a task in another one's name", async () => {
  const done = await (await ready()).by(BOB, "insert into public.tasks (user_id, title) values ($1, 'x')", [ALICE]);
  expect(done.error).toMatch(/row-level security/);
});

test("a person changes their own tasks only", async () => {
  // Without a condition and without `returning`, so that no policy for reading comes into it.
  const done = await (await ready()).by(ALICE, "update public.tasks set done = true");
  expect(done).toMatchObject({ error: "", count: 2 });
});

test("nobody hands a task to somebody else", async () => {
  const done = await (await ready()).by(ALICE, "update public.tasks set user_id = $1", [BOB]);
  expect(done.error).toMatch(/row-level security/);
});

test("a person removes their own tasks only", async () => {
  const done = await (await ready()).by(ALICE, "delete from public.tasks");
  expect(done).toMatchObject({ error: "", count: 2 });
});

test("visitors get nothing, and no policy is made for them", async () => {
  const db = await ready();
  const seen = await db.by("anon", "select * from public.tasks");
  expect(seen.rows).toEqual([]);
  expect((await db.by("anon", "insert into public.tasks (user_id, title) values ($1, 'x')", [BOB])).error).not.toBe("");
  const roles = (await db.policies("public.tasks")).flatMap((policy) => policy.roles);
  expect(new Set(roles)).toEqual(new Set(["authenticated"]));
});

test("the tasks of a deleted account are gone", async () => {
  const db = await ready();
  await db.run("begin");
  try {
    await db.run(`delete from auth.users where id = '${ALICE}'`);
    expect(await db.rows("select distinct user_id from public.tasks")).toEqual([{ user_id: BOB }]);
  } finally {
    await db.run("rollback");
  }
});

test("who asks is worked out once, and an index leads to a person's tasks", async () => {
  const db = await ready();
  expect(perRow(await db.policies("public.tasks"))).toEqual([]);
  expect(await db.value(
    `select count(*)::int from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
      where i.indrelid = 'public.tasks'::regclass and a.attname = 'user_id'`)).toBeGreaterThan(0);
});
