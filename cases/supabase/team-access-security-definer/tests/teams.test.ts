import { expect, test } from "vitest";
import { ALICE, BOB, CAROL, UNTOUCHED, history, once, perRow, project } from "./harness.mjs";

const RED = "00000000-0000-4000-8000-00000000000a";
const BLUE = "00000000-0000-4000-8000-00000000000b";

// Alice is admin of red, Bob its member; Carol is admin of blue.
const ready = once(() =>
  project({
    between: (db) =>
      db.run(`
        insert into public.teams (id, name) values ('${RED}', 'red'), ('${BLUE}', 'blue');
        insert into public.team_members (team_id, user_id, role) values
          ('${RED}', '${ALICE}', 'admin'), ('${RED}', '${BOB}', 'member'), ('${BLUE}', '${CAROL}', 'admin');
        insert into public.team_notes (team_id, body) values ('${RED}', 'r1'), ('${RED}', 'r2'), ('${BLUE}', 'b1')`),
  }),
);
const join = "insert into public.team_members (team_id, user_id, role) values ($1, $2, $3)";

test("what was applied before is as it was", async () => {
  expect(history()).toEqual([]);
  expect(await (await ready()).platform()).toEqual(UNTOUCHED);
});

test("a member sees the members of their team, and of no other", async () => {
  const seen = await (await ready()).by(BOB, "select user_id from public.team_members order by 1");
  expect(seen).toMatchObject({ error: "", rows: [{ user_id: ALICE }, { user_id: BOB }].sort((a, b) => (a.user_id < b.user_id ? -1 : 1)) });
});

test("a member sees their team, and no other", async () => {
  const seen = await (await ready()).by(BOB, "select name from public.teams");
  expect(seen).toMatchObject({ error: "", rows: [{ name: "red" }] });
});

test("a member sees the notes of their team, and no others", async () => {
  const seen = await (await ready()).by(BOB, "select body from public.team_notes order by 1");
  expect(seen).toMatchObject({ error: "", rows: [{ body: "r1" }, { body: "r2" }] });
});

test("a member adds, changes and deletes notes of their team", async () => {
  const db = await ready();
  const added = await db.by(BOB, "insert into public.team_notes (team_id, body) values ($1, 'x') returning body", [RED]);
  expect(added).toMatchObject({ error: "", count: 1 });
  expect(await db.by(BOB, "update public.team_notes set body = 'x'")).toMatchObject({ error: "", count: 2 });
  expect(await db.by(BOB, "delete from public.team_notes")).toMatchObject({ error: "", count: 2 });
});

test("nobody adds a note to another team, or moves one there", async () => {
  const db = await ready();
  const added = await db.by(BOB, "insert into public.team_notes (team_id, body) values ($1, 'x')", [BLUE]);
  expect(added.error).toMatch(/row-level security/);
  expect((await db.by(BOB, "update public.team_notes set team_id = $1", [BLUE])).error).toMatch(/row-level security/);
});

test("an admin adds members, changes their roles and removes them", async () => {
  const done = await (await ready()).as(ALICE, async (query) => [
    await query(join, [RED, CAROL, "member"]),
    await query("update public.team_members set role = 'admin' where user_id = $1", [BOB]),
    await query("delete from public.team_members where user_id = $1", [BOB]),
  ]);
  expect(done).toMatchObject([{ error: "", count: 1 }, { error: "", count: 1 }, { error: "", count: 1 }]);
});

test("who is no admin of a team changes nothing about its members", async () => {
  const db = await ready();
  expect((await db.by(BOB, join, [RED, CAROL, "member"])).error).toMatch(/row-level security/);
  expect((await db.by(CAROL, join, [RED, CAROL, "admin"])).error).toMatch(/row-level security/);
  expect((await db.by(ALICE, join, [BLUE, ALICE, "member"])).error).toMatch(/row-level security/);
  expect((await db.by(BOB, "update public.team_members set role = 'admin'")).count).toBe(0);
  expect((await db.by(BOB, "delete from public.team_members where user_id = $1", [ALICE])).count).toBe(0);
  expect((await db.by(ALICE, "update public.team_members set team_id = $1 where user_id = $2", [BLUE, BOB])).error)
    .toMatch(/row-level security/);
});

test("visitors see nothing, and no policy is made for them", async () => {
  const db = await ready();
  for (const table of ["public.teams", "public.team_members", "public.team_notes"]) {
    expect((await db.by("anon", `select * from ${table}`)).rows).toEqual([]);
    expect(await db.security(table)).toMatchObject({ on: true });
    expect(new Set((await db.policies(table)).flatMap((policy) => policy.roles))).toEqual(new Set(["authenticated"]));
  }
});

test("functions that look past policies are out of the API's reach, and safe", async () => {
  const functions = await (await ready()).rows(
    `select p.proname as name, n.nspname as schema, coalesce(array_to_string(p.proconfig, ','), '') as config,
            has_function_privilege('anon', p.oid, 'execute') and has_schema_privilege('anon', n.oid, 'usage') as visitors,
            'uuid' = any (select t.typname from unnest(p.proargtypes) a join pg_type t on t.oid = a
                           where p.proargnames is null or exists (
                             select from unnest(p.proargnames) g where g ~* '(user|uid|account|person|member_id)')) as about_others
       from pg_proc p join pg_namespace n on n.oid = p.pronamespace
      where p.prosecdef and n.nspname not in ('pg_catalog', 'information_schema')`);
  for (const found of functions) {
    expect(found.schema, `${found.name} is exposed`).not.toMatch(/^(public|graphql_public)$/);
    expect(found.config, `the search path of ${found.name}`).toMatch(/search_path=(""|pg_catalog|)(,|$)/);
    expect(found.config, `the search path of ${found.name}`).toContain("search_path");
    expect(found.visitors, `visitors may call ${found.name}`).toBe(false);
    expect(found.about_others, `${found.name} takes somebody else's id`).toBe(false);
  }
});

test("who asks is worked out once", async () => {
  const db = await ready();
  const all = [];
  for (const table of ["public.teams", "public.team_members", "public.team_notes"]) {
    const policies = await db.policies(table);
    expect(perRow(policies)).toEqual([]);
    all.push(...policies);
  }
  const names = (await db.rows(
    `select p.proname as name from pg_proc p join pg_namespace n on n.oid = p.pronamespace
      where p.prosecdef and n.nspname not in ('pg_catalog', 'information_schema')`)).map((row) => row.name);
  // A function that is given the row's team is called for each row; one that gives back the teams is not.
  for (const name of names) {
    const perTeam = new RegExp(`${name}\\((?:\\w+\\.)?(?:team_id|id)\\b`);
    expect(all.filter((p) => perTeam.test(p.qual)).map((p) => p.name), `${name} is called per row`).toEqual([]);
  }
});
