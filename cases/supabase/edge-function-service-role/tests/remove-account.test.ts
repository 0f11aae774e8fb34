import { expect, test } from "vitest";
import { call, token } from "./edge.mjs";
import { ALICE, BOB, CAROL } from "./harness.mjs";

// Alice is an admin; Bob says of himself that he is one; a third token was never given out.
const URL = "http://project.test";
const alice = { id: ALICE, email: "alice@example.com", aud: "authenticated", app_metadata: { role: "admin" }, user_metadata: {} };
const bob = { id: BOB, email: "bob@example.com", aud: "authenticated", app_metadata: {}, user_metadata: { role: "admin" } };
const tokens = {
  alice: token({ sub: ALICE, app_metadata: alice.app_metadata }),
  bob: token({ sub: BOB, user_metadata: bob.user_metadata, app_metadata: {} }),
  forged: token({ sub: BOB, app_metadata: { role: "admin" } }),
};
const ANON = token({ role: "anon" });
const SERVICE = token({ role: "service_role", iss: "supabase" });
const world = {
  url: URL, anonKey: ANON, serviceKey: SERVICE,
  env: { SUPABASE_URL: URL, SUPABASE_ANON_KEY: ANON, SUPABASE_SERVICE_ROLE_KEY: SERVICE },
  users: { [tokens.alice]: alice, [tokens.bob]: bob },
};
type Asked = { method: string; url: string; headers: Record<string, string> };

const ask = (body: unknown, who: string | null = tokens.alice, where: object = world) =>
  call("remove-account", {
    headers: { Origin: "https://app.example", "Content-Type": "application/json", ...(who ? { Authorization: `Bearer ${who}` } : {}) },
    body,
  }, where);
const deleted = (asked: Asked[]) => asked.filter((one) => one.method === "DELETE").map((one) => one.url);
const withService = (asked: Asked[]) => asked.filter((one) => JSON.stringify(one.headers).includes(SERVICE));

test("an admin deletes an account", async () => {
  const { status, json, asked } = await ask({ user_id: BOB });
  expect({ status, json }).toEqual({ status: 200, json: { deleted: BOB } });
  expect(deleted(asked)).toEqual([`${URL}/auth/v1/admin/users/${BOB}`]);
});

test("the deletion is done with the service role alone", async () => {
  const { asked } = await ask({ user_id: BOB });
  const [one] = asked.filter((found: Asked) => found.method === "DELETE");
  expect(one?.headers.authorization).toBe(`Bearer ${SERVICE}`);
});

test("who calls without a token is turned away", async () => {
  for (const who of [null, "", "nonsense"]) {
    const { status, asked } = await ask({ user_id: BOB }, who);
    expect(status).toBe(401);
    expect(deleted(asked)).toEqual([]);
  }
});

test("a token that the auth server does not know is worth nothing", async () => {
  for (const who of [tokens.forged, ANON]) {
    const { status, asked } = await ask({ user_id: BOB }, who);
    expect(status).toBe(401);
    expect(deleted(asked)).toEqual([]);
  }
});

test("who is no admin is turned away, whatever they say of themselves", async () => {
  const { status, asked } = await ask({ user_id: ALICE, role: "admin", app_metadata: { role: "admin" } }, tokens.bob);
  expect(status).toBe(403);
  expect(deleted(asked)).toEqual([]);
});

test("the service role is not used before it is clear who calls", async () => {
  for (const who of [null, tokens.forged, tokens.bob]) {
    expect(withService((await ask({ user_id: ALICE }, who)).asked)).toEqual([]);
  }
});

test("what is no account's id is answered with 400", async () => {
  for (const body of ["no json", "null", {}, { user_id: 7 }, { user_id: "bob" }, { user_id: "" }, { user_id: `${BOB}/../${CAROL}` }]) {
    const { status, asked } = await ask(body);
    expect(status, JSON.stringify(body)).toBe(400);
    expect(deleted(asked)).toEqual([]);
  }
});

test("an admin does not delete themselves", async () => {
  const { status, asked } = await ask({ user_id: ALICE });
  expect(status).toBe(400);
  expect(deleted(asked)).toEqual([]);
});

test("an account that does not exist is answered with 404", async () => {
  expect(await ask({ user_id: CAROL })).toMatchObject({ status: 404, json: { error: expect.any(String) } });
});

test("neither keys nor what went wrong inside are told", async () => {
  const inside = "relation auth.refresh_tokens of shard 12 is locked";
  const broken = await ask({ user_id: BOB }, tokens.alice, { ...world, adminFails: inside });
  expect(broken).toMatchObject({ status: 500, json: { error: expect.any(String) } });
  const answers = [broken, await ask({ user_id: BOB }), await ask({ user_id: CAROL }), await ask({ user_id: BOB }, tokens.forged)];
  for (const { text, headers } of answers) {
    for (const word of [SERVICE, "shard", "SERVICE_ROLE"]) expect(text + JSON.stringify(headers)).not.toContain(word);
  }
});

test("browsers may ask, and read every answer", async () => {
  const early = await call("remove-account", {
    method: "OPTIONS", headers: { Origin: "https://app.example", "Access-Control-Request-Method": "POST" } }, world);
  expect([200, 204]).toContain(early.status);
  for (const name of ["authorization", "content-type", "apikey", "x-client-info"]) {
    expect((early.headers["access-control-allow-headers"] ?? "").toLowerCase()).toContain(name);
  }
  const answers = [early, await ask({ user_id: BOB }), await ask({}), await ask({ user_id: BOB }, null), await ask({ user_id: ALICE }, tokens.bob)];
  for (const { status, headers } of answers) {
    expect(["*", "https://app.example"], `the answer ${status}`).toContain(headers["access-control-allow-origin"]);
  }
});
