import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { call } from "./edge.mjs";
import { file, workspace } from "./harness.mjs";

const KEY = "rk_live_7Qm2";
const rates = (body: unknown, status = 200) => ({
  env: { RATES_API_KEY: KEY },
  sites: [{ url: "https://rates.example/", status, body }],
});
const world = rates({ rates: { USD: 1.1, GBP: 0.835 } });
const good = { amount: 12.5, from: "EUR", to: "USD" };
const browser = { Origin: "https://shop.example", "Content-Type": "application/json" };
const post = (body: unknown, where: object = world) => call("convert", { headers: browser, body }, where);

test("an amount is converted and rounded", async () => {
  expect(await post(good)).toMatchObject({ status: 200, json: { amount: 13.75, currency: "USD" } });
  expect((await post({ amount: 0.99, from: "EUR", to: "GBP" })).json).toEqual({ amount: 0.83, currency: "GBP" });
  expect((await post({ ...good, amount: 0 })).json).toEqual({ amount: 0, currency: "USD" });
});

test("rates are asked for with the secret", async () => {
  const { asked } = await post(good);
  expect(asked).toHaveLength(1);
  expect(asked[0]).toMatchObject({ method: "GET", url: "https://rates.example/v1/latest?base=EUR" });
  expect(asked[0].headers.authorization).toBe(`Bearer ${KEY}`);
});

test("a browser may ask before it sends the request", async () => {
  const ask = { ...browser, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type, apikey" };
  const { status, headers, asked } = await call("convert", { method: "OPTIONS", headers: ask }, world);
  expect([200, 204]).toContain(status);
  expect(["*", browser.Origin]).toContain(headers["access-control-allow-origin"]);
  const allowed = (headers["access-control-allow-headers"] ?? "").toLowerCase();
  for (const name of ["authorization", "apikey", "content-type", "x-client-info"]) expect(allowed).toContain(name);
  expect(asked).toEqual([]);
});

test("every answer can be read by the browser, errors too", async () => {
  const answers = [await post(good), await post("no json"), await post(good, rates("down", 503)), await post(good, { ...world, env: {} })];
  for (const { status, headers } of answers) {
    expect(["*", browser.Origin], `the answer ${status}`).toContain(headers["access-control-allow-origin"]);
  }
});

test("what is no request for a conversion is answered with 400", async () => {
  for (const body of ["no json", "null", "[]", { ...good, amount: "12" }, { ...good, amount: -1 }, { ...good, from: "eur" },
    { ...good, to: "DOLLAR" }, { amount: 1, from: "EUR" }, { ...good, from: "EUR&base=USD" }]) {
    const { status, json, asked } = await post(body);
    expect(status, JSON.stringify(body)).toBe(400);
    expect(json).toEqual({ error: expect.any(String) });
    expect(asked, JSON.stringify(body)).toEqual([]);
  }
});

test("a currency that nobody knows is answered with 400", async () => {
  expect(await post({ ...good, to: "XXX" })).toMatchObject({ status: 400, json: { error: expect.any(String) } });
});

test("a service that fails is answered with 502", async () => {
  for (const where of [rates({ rates: {} }, 500), rates("busy", 429), rates("", 0), rates("<html>", 200)]) {
    expect(await post(good, where)).toMatchObject({ status: 502, json: { error: expect.any(String) } });
  }
});

test("a missing secret is answered with 500", async () => {
  const { status, json, asked } = await post(good, { ...world, env: {} });
  expect({ status, json, asked }).toEqual({ status: 500, json: { error: expect.any(String) }, asked: [] });
});

test("neither the key nor the service's words reach the browser", async () => {
  const secret = `invalid key ${KEY} of account 4711`;
  const answers = [await post(good), await post(good, rates({ message: secret }, 401)), await post(good, { ...world, env: {} }),
    await post(good, rates(secret, 200))];
  for (const { text, headers } of answers) {
    for (const word of [KEY, "4711", "RATES_API_KEY"]) expect(text + JSON.stringify(headers)).not.toContain(word);
  }
  const folder = join(workspace, "supabase/functions");
  for (const name of readdirSync(folder, { recursive: true }) as string[]) {
    if (/\.(ts|js|json|env)$/.test(name)) expect(readFileSync(join(folder, name), "utf8"), name).not.toMatch(/rk_live|Bearer [a-z0-9]{8}/i);
  }
});

test("other methods are answered with 405", async () => {
  for (const method of ["GET", "PUT", "DELETE"]) {
    const { status, asked } = await call("convert", { method, headers: browser }, world);
    expect(status, method).toBe(405);
    expect(asked).toEqual([]);
  }
});

// The platform reads this; there is no platform here.
test("the platform asks for no token", async () => {
  const part = /\[functions\.convert\]([^[]*)/.exec((file("supabase/config.toml") ?? "").replace(/^\s*#.*$/gm, ""))?.[1] ?? "";
  expect(part).toMatch(/^\s*verify_jwt\s*=\s*false\s*(#.*)?$/m);
});
