import { expect, test } from "vitest";
import { ALICE, UNTOUCHED, history, once, project } from "./harness.mjs";

// name, phone, price: what it becomes is below, in the same order.
const customers: [string, string | null, string][] = [
  ["Ada Lovelace", "1", "12"],
  ["  Grace   Brewster  Hopper ", "2", "12.50"],
  ["Plato", "1", "12,50 €"],
  ["Edsger W. Dijkstra", null, " 9,9 "],
  ["Alan Turing", null, "ask Tom"],
  ["Barbara Liskov", "2", "0"],
  ["Ada Lovelace", "3", "1200"],
  ["Tim O'Reilly", "1", "see 2024 contract"],
];

const ready = once(() =>
  project({
    between: async (db) => {
      for (const row of customers) {
        await db.rows("insert into public.customers (full_name, phone, price) values ($1, $2, $3)", row);
      }
    },
  }),
);
const column = async (name: string) =>
  (await (await ready()).rows(`select ${name} as value from public.customers order by id`)).map((row) => row.value);
const columns = async () =>
  (await (await ready()).rows(
    `select attname as name, attnotnull as required, format_type(atttypid, atttypmod) as type from pg_attribute
      where attrelid = 'public.customers'::regclass and attnum > 0 and not attisdropped`));

test("what was applied before is as it was", async () => {
  expect(history()).toEqual([]);
  expect(await (await ready()).platform()).toEqual(UNTOUCHED);
});

test("every customer is there, with their id", async () => {
  expect((await column("id")).map(Number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
});

test("names are split at the first space", async () => {
  expect(await column("first_name")).toEqual(["Ada", "Grace", "Plato", "Edsger", "Alan", "Barbara", "Ada", "Tim"]);
  expect(await column("last_name")).toEqual(
    ["Lovelace", "Brewster Hopper", "", "W. Dijkstra", "Turing", "Liskov", "Lovelace", "O'Reilly"]);
});

test("prices are cents", async () => {
  expect((await column("price_cents")).map((value) => (value === null ? null : Number(value)))).toEqual(
    [1200, 1250, 1250, 990, null, 0, 120000, null]);
  const type = (await columns()).find((found) => found.name === "price_cents")?.type;
  expect(["integer", "bigint"]).toContain(type);
});

test("what is no price is kept as a note", async () => {
  expect(await column("price_note")).toEqual([null, null, null, null, "ask Tom", null, null, "see 2024 contract"]);
});

test("a number belongs to the first who had it", async () => {
  expect(await column("phone")).toEqual(["1", "2", null, null, null, null, "3", null]);
});

test("no number can be given twice, and customers need none", async () => {
  const db = await ready();
  const add = "insert into public.customers (first_name, last_name, phone) values ('a', 'b', $1)";
  expect((await db.by("service_role", add, ["3"])).error).toMatch(/unique/);
  expect((await db.by("service_role", add, [null])).error).toBe("");
});

test("the old columns are gone, and both names are required", async () => {
  const found = await columns();
  const names = found.map((row) => row.name);
  expect(names).not.toContain("full_name");
  expect(names).not.toContain("price");
  for (const name of ["first_name", "last_name"]) {
    expect(found.find((row) => row.name === name)).toMatchObject({ required: true });
  }
});

test("the view goes on, under the table's rules, and ids too", async () => {
  const db = await ready();
  const seen = await db.by("service_role", "select full_name from public.customer_names order by id");
  expect(seen.rows.map((row) => row.full_name)).toEqual([
    "Ada Lovelace", "Grace Brewster Hopper", "Plato", "Edsger W. Dijkstra", "Alan Turing", "Barbara Liskov", "Ada Lovelace",
    "Tim O'Reilly",
  ]);
  expect((await db.by(ALICE, "select * from public.customer_names")).rows).toEqual([]);
  expect(await db.security("public.customers")).toMatchObject({ on: true });
  const added = await db.by("service_role",
    "insert into public.customers (first_name, last_name) values ('a', 'b') returning id::int");
  expect(added.rows[0]?.id).toBeGreaterThan(8);
});
