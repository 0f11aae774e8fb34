import { expect, test } from "vitest";
import { ALICE, BOB, CAROL, UNTOUCHED, history, once, project } from "./harness.mjs";

const SOUP = "00000000-0000-4000-8000-0000000000a1";
const CAKE = "00000000-0000-4000-8000-0000000000b1";

// Carol is an account without a profile.
const ready = once(() =>
  project({
    between: (db) =>
      db.run(`
        insert into public.profiles (id, name) values ('${ALICE}', 'Alice'), ('${BOB}', 'Bob');
        insert into public.recipes (id, author_id, title, shared) values
          ('${SOUP}', '${ALICE}', 'soup', true), ('${CAKE}', '${BOB}', 'cake', true);
        insert into public.comments (recipe_id, author_id, body) values
          ('${SOUP}', '${BOB}', 'under the soup'), ('${CAKE}', '${ALICE}', 'under the cake'), ('${CAKE}', '${BOB}', 'thanks')`),
  }),
);

/** What is there after Alice's account is deleted; nothing of it stays. */
async function withoutAlice<T>(look: (db: Awaited<ReturnType<typeof ready>>) => Promise<T>): Promise<T> {
  const db = await ready();
  await db.run("begin");
  try {
    await db.run(`delete from auth.users where id = '${ALICE}'`);
    return await look(db);
  } finally {
    await db.run("rollback");
  }
}

/** The profile of an account that signs up with this email and these data. */
async function signedUp(email: string | null, data: string): Promise<unknown> {
  const db = await ready();
  await db.run("begin");
  try {
    const id = await db.value("insert into auth.users (email, raw_user_meta_data) values ($1, $2) returning id", [email, data]);
    return await db.value("select name from public.profiles where id = $1", [id]);
  } finally {
    await db.run("rollback");
  }
}

test("what was applied before is as it was", async () => {
  expect(history()).toEqual([]);
  expect(await (await ready()).platform()).toEqual(UNTOUCHED);
});

test("a deleted account's profile is gone", async () => {
  expect(await withoutAlice((db) => db.rows("select name from public.profiles where id = $1", [ALICE]))).toEqual([]);
});

test("its recipes are gone, with the comments on them", async () => {
  const left = await withoutAlice(async (db) => [
    await db.rows("select title from public.recipes"),
    await db.rows("select body from public.comments where recipe_id = $1", [SOUP]),
  ]);
  expect(left).toEqual([[{ title: "cake" }], []]);
});

test("what it wrote under others' recipes stays, without an author", async () => {
  const left = await withoutAlice((db) => db.rows("select author_id, body from public.comments order by body"));
  expect(left).toEqual([{ author_id: BOB, body: "thanks" }, { author_id: null, body: "under the cake" }]);
});

test("nothing else is lost, and comments can still be read", async () => {
  const db = await ready();
  expect(await db.value("select count(*)::int from public.comments")).toBe(3);
  expect((await db.by(CAROL, "select body from public.comments")).count).toBe(3);
});

test("a new account has a profile with its name", async () => {
  expect(await signedUp("dora@example.com", '{"name": "Dora"}')).toBe("Dora");
});

test("a new account without a name is called by its address", async () => {
  expect(await signedUp("dora@example.com", "{}")).toBe("dora");
});

test("a new account without either can sign up", async () => {
  expect(await signedUp(null, "{}")).toBe("New cook");
});

test("accounts of before have a profile, and those that had one keep it", async () => {
  const rows = await (await ready()).rows("select id, name from public.profiles order by name");
  expect(rows).toEqual([{ id: ALICE, name: "Alice" }, { id: BOB, name: "Bob" }, { id: CAROL, name: "carol" }]);
});

test("an index leads to what an account wrote", async () => {
  const rows = await (await ready()).rows(
    `select distinct i.indrelid::regclass::text as name from pg_index i
       join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
      where a.attname = 'author_id' order by 1`);
  expect(rows.map((row) => row.name.replace("public.", ""))).toEqual(["comments", "recipes"]);
});

test("the function behind the trigger is safe and out of the API's reach", async () => {
  const found = await (await ready()).rows(
    `select p.proname as name, p.prosecdef as definer, coalesce(array_to_string(p.proconfig, ','), '') as config,
            exists (select from unnest(array['anon', 'authenticated']) r
                     where has_function_privilege(r, p.oid, 'execute') and n.nspname = 'public') as callable
       from pg_trigger t join pg_proc p on p.oid = t.tgfoid join pg_namespace n on n.oid = p.pronamespace
      where t.tgrelid = 'auth.users'::regclass and not t.tgisinternal`);
  expect(found.length).toBeGreaterThan(0);
  for (const { name, definer, config, callable } of found) {
    expect({ name, definer, callable }).toEqual({ name, definer: true, callable: false });
    expect(config).toMatch(/search_path=(""|pg_catalog)/);
  }
});
