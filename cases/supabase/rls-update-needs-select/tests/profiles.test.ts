import { expect, test } from "vitest";
import { ALICE, BOB, UNTOUCHED, history, once, project } from "./harness.mjs";

const ready = once(() =>
  project({
    between: (db) =>
      db.run(`insert into public.profiles (id, display_name, plan) values
        ('${ALICE}', 'Alice', 'free'), ('${BOB}', 'Bob', 'paid')`),
  }),
);
const save = "update public.profiles set bio = 'hello', display_name = 'A.' where id = $1 returning *";

test("what was applied before is as it was", async () => {
  expect(history()).toEqual([]);
  expect(await (await ready()).platform()).toEqual(UNTOUCHED);
});

test("a person saves their profile and gets it back", async () => {
  const done = await (await ready()).by(ALICE, save, [ALICE]);
  expect(done).toMatchObject({ error: "", rows: [{ id: ALICE, bio: "hello", display_name: "A." }] });
});

test("a person reads their own profile only", async () => {
  const done = await (await ready()).by(ALICE, "select id from public.profiles");
  expect(done.rows).toEqual([{ id: ALICE }]);
});

test("nobody changes somebody else's profile", async () => {
  const db = await ready();
  expect((await db.by(ALICE, save, [BOB])).rows).toEqual([]);
  expect((await db.by(ALICE, "update public.profiles set bio = 'x'")).count).toBeLessThan(2);
});

test("visitors read no profile", async () => {
  const db = await ready();
  expect((await db.by("anon", "select * from public.profiles")).rows).toEqual([]);
  const roles = (await db.policies("public.profiles")).flatMap((policy) => policy.roles);
  expect(roles.filter((role) => role !== "authenticated" && role !== "service_role")).toEqual([]);
});

test("nobody moves themselves to the paid plan", async () => {
  const seen = await (await ready()).as(ALICE, async (query) => {
    await query("update public.profiles set plan = 'paid' where id = $1", [ALICE]);
    await query("update public.profiles set bio = 'x', plan = 'paid' where id = $1", [ALICE]);
    return (await query("select plan from public.profiles where id = $1", [ALICE])).rows;
  });
  expect(seen).toEqual([{ plan: "free" }]);
});

test("a person on the paid plan still saves their profile", async () => {
  const done = await (await ready()).by(BOB, save, [BOB]);
  expect(done).toMatchObject({ error: "", rows: [{ id: BOB, plan: "paid" }] });
});

test("the billing server sets the plan", async () => {
  const done = await (await ready()).by(
    "service_role", "update public.profiles set plan = 'paid' where id = $1 returning plan", [ALICE]);
  expect(done).toMatchObject({ error: "", rows: [{ plan: "paid" }] });
});

test("a profile cannot be moved to another account", async () => {
  const db = await ready();
  await db.run("delete from public.profiles where id = 'ca401000-0000-4000-8000-000000000003'");
  const done = await db.as(ALICE, async (query) => {
    await query("update public.profiles set id = 'ca401000-0000-4000-8000-000000000003' where id = $1", [ALICE]);
    return (await query("select id from public.profiles")).rows;
  });
  expect(done).toEqual([{ id: ALICE }]);
});

test("a profile can still be created, on the free plan only", async () => {
  const db = await ready();
  const carol = "ca401000-0000-4000-8000-000000000003";
  const create = `insert into public.profiles (id, display_name, plan) values ('${carol}', 'Carol', $1)`;
  expect((await db.by(carol, create, ["free"])).error).toBe("");
  expect((await db.by(carol, create, ["paid"])).error).not.toBe("");
});

test("no profile was lost or changed on the way", async () => {
  const rows = await (await ready()).rows("select id, display_name, plan from public.profiles order by display_name");
  expect(rows).toEqual([
    { id: ALICE, display_name: "Alice", plan: "free" },
    { id: BOB, display_name: "Bob", plan: "paid" },
  ]);
});
