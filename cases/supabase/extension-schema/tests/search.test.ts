import { expect, test } from "vitest";
import { ALICE, UNTOUCHED, file, history, once, project } from "./harness.mjs";

const ready = once(() =>
  project({
    between: (db) =>
      db.run(`insert into public.places (name, published) values
        ('Coffee House', true), ('Koffee Haus', true), ('Coffee Hidden', false), ('Swimming Pool', true);
        insert into public.places (name, published) select 'Bakery Street ' || n, true from generate_series(1, 30) n`),
  }),
);
const search = "select name from public.search_places(query => $1)";
const names = async (who: string, query: string, settings = {}) => {
  const done = await (await ready()).by(who, search, [query], settings);
  expect(done.error).toBe("");
  return done.rows.map((row) => row.name);
};

test("what was applied before is as it was", async () => {
  expect(history()).toEqual([]);
  expect(await (await ready()).platform()).toEqual(UNTOUCHED);
});

test("the extension stands in its own schema", async () => {
  const schema = await (await ready()).value(
    "select n.nspname from pg_extension e join pg_namespace n on n.oid = e.extnamespace where extname = 'pg_trgm'");
  expect(schema).toBe("extensions");
});

test("nothing of it is exposed", async () => {
  const db = await ready();
  const exposed = await db.rows(
    `select p.proname as name from pg_proc p join pg_namespace n on n.oid = p.pronamespace
      where n.nspname = 'public' and p.proname <> 'search_places'`);
  expect(exposed).toEqual([]);
  const api = /^schemas\s*=\s*\[(.*)\]/m.exec(file("supabase/config.toml") ?? "")?.[1] ?? "";
  expect(api.split(",").map((name) => name.trim().replaceAll('"', "")).sort()).toEqual(["graphql_public", "public"]);
  expect(await db.rows(
    "select 1 from pg_db_role_setting where exists (select from unnest(setconfig) s where s like 'search_path=%')")).toEqual([]);
});

test("similar names are found, the most similar first", async () => {
  expect((await names("anon", "koffee hause"))[0]).toBe("Koffee Haus");
  expect(await names(ALICE, "coffee hous")).toEqual(["Coffee House", "Koffee Haus"]);
  expect(await names(ALICE, "library")).toEqual([]);
  expect(await names(ALICE, "")).toEqual([]);
});

test("at most twenty places are found", async () => {
  expect(await names("anon", "bakery street")).toHaveLength(20);
});

test("places that are not published stay hidden", async () => {
  expect(await names("anon", "coffee hidden")).not.toContain("Coffee Hidden");
  expect(await names(ALICE, "coffee hidden")).not.toContain("Coffee Hidden");
});

test("it works with any search path", async () => {
  expect(await names(ALICE, "swimming pol", { search_path: "" })).toEqual(["Swimming Pool"]);
  expect(await names(ALICE, "swimming pol", { search_path: "public" })).toEqual(["Swimming Pool"]);
  const config = await (await ready()).value(
    "select coalesce(array_to_string(proconfig, ','), '') from pg_proc where proname = 'search_places'");
  expect(config).toContain("search_path=");
});

test("an index serves trigram searches", async () => {
  const found = await (await ready()).rows(
    `select o.opcname as name, a.amname as method from pg_index i
       join pg_opclass o on o.oid = any (i.indclass) join pg_class c on c.oid = i.indexrelid join pg_am a on a.oid = c.relam
      where i.indrelid = 'public.places'::regclass and o.opcname in ('gin_trgm_ops', 'gist_trgm_ops')`);
  expect(found).not.toEqual([]);
});
