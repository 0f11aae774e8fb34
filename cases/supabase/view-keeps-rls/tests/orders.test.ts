import { expect, test } from "vitest";
import { ALICE, BOB, CAROL, UNTOUCHED, history, once, project } from "./harness.mjs";

const ready = once(() =>
  project({
    between: (db) =>
      db.run(`insert into public.orders (customer_id, placed_on, total_cents, status) values
        ('${ALICE}', '2026-02-01', 100, 'open'), ('${ALICE}', '2026-02-01', 200, 'paid'),
        ('${BOB}', '2026-02-01', 400, 'open'), ('${BOB}', '2026-02-02', 800, 'paid'), ('${BOB}', '2026-02-02', 1, 'cancelled')`),
  }),
);
const open = "select total_cents from public.my_open_orders order by 1";

test("what was applied before is as it was", async () => {
  expect(history()).toEqual([]);
  expect(await (await ready()).platform()).toEqual(UNTOUCHED);
});

test("a person sees their own open orders", async () => {
  const db = await ready();
  expect(await db.by(ALICE, open)).toMatchObject({ error: "", rows: [{ total_cents: 100 }] });
  expect(await db.by(BOB, open)).toMatchObject({ error: "", rows: [{ total_cents: 400 }] });
  expect(await db.by(CAROL, open)).toMatchObject({ error: "", rows: [] });
});

test("the view has the columns that are asked for", async () => {
  const rows = await (await ready()).rows(
    `select attname as name from pg_attribute where attrelid = 'public.my_open_orders'::regclass and attnum > 0 order by 1`);
  expect(rows.map((row) => row.name)).toEqual(["id", "placed_on", "total_cents"]);
});

test("the rules of the table decide what the view shows", async () => {
  const db = await ready();
  await db.run("begin");
  try {
    await db.run(`create policy "support" on public.orders for select to authenticated
                  using ((select auth.uid()) = '${CAROL}'); set local role authenticated`);
    await db.rows("select set_config('request.jwt.claims', $1, true)", [JSON.stringify({ sub: CAROL, role: "authenticated" })]);
    expect(await db.rows(open)).toEqual([{ total_cents: 100 }, { total_cents: 400 }]);
  } finally {
    await db.run("rollback");
  }
});

test("visitors cannot read the view", async () => {
  expect((await (await ready()).by("anon", open)).error).toMatch(/permission denied/);
});

test("nobody changes orders by way of the view", async () => {
  const db = await ready();
  for (const sql of [
    "update public.my_open_orders set total_cents = 0",
    "delete from public.my_open_orders",
    "insert into public.my_open_orders (total_cents) values (1)",
  ]) {
    for (const who of [ALICE, "anon"]) expect((await db.by(who, sql)).error, sql).toMatch(/permission denied|cannot/);
  }
});

test("the shop's revenue is shown to nobody with the public key", async () => {
  const db = await ready();
  for (const who of [ALICE, CAROL, "anon"]) {
    const seen = await db.by(who, "select sum(revenue_cents)::int as sum from public.revenue_by_day");
    expect(seen.rows.map((row) => row.sum), who).not.toContain(1000);
    expect((await db.by(who, "select * from public.revenue_by_day where revenue_cents = 800")).rows).toEqual([]);
  }
});

test("the dashboard reads the revenue as before", async () => {
  const seen = await (await ready()).by(
    "service_role",
    "select placed_on::text, revenue_cents::int, orders::int from public.revenue_by_day order by 1");
  expect(seen).toMatchObject({
    error: "",
    rows: [
      { placed_on: "2026-02-01", revenue_cents: 200, orders: 1 },
      { placed_on: "2026-02-02", revenue_cents: 800, orders: 1 },
    ],
  });
});
