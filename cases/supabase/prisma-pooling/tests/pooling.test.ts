import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { file, workspace } from "./harness.mjs";
import { hosted } from "./hosted.mjs";

const POOLER = "aws-0-eu-central-1.pooler.supabase.com";
const REF = "qwkzjdtrmxaelvbn";

/** The variables of .env.example. */
function variables(): Record<string, string> {
  const lines = (file(".env.example") ?? "").split("\n").map((line) => /^\s*(?:export\s+)?(\w+)\s*=\s*(.*?)\s*$/.exec(line));
  return Object.fromEntries(lines.flatMap((found) => (found ? [[found[1], found[2].replace(/^(["'])(.*)\1$/, "$2")]] : [])));
}
const address = (name: string) => new URL(variables()[name] ?? "missing:");

/** What stands in a block of schema.prisma. */
function block(head: RegExp, text = file("prisma/schema.prisma") ?? ""): Record<string, string> {
  const body = new RegExp(`${head.source}\\s*\\{([^}]*)\\}`).exec(text.replace(/\/\/.*$/gm, ""))?.[1] ?? "";
  return Object.fromEntries([...body.matchAll(/^\s*(\S+)\s*(?:=\s*)?(.*?)\s*$/gm)].filter((m) => m[1]).map((m) => [m[1], m[2].replace(/\s+/g, " ")]));
}

/** src/db.ts at work, in a process that can do nothing else. */
async function client(env: string): Promise<{ once: number; reloaded: number; same: boolean }> {
  const { once, reloaded, same } = await hosted("client-host.mjs", "src/db.ts", {}, {
    args: [join(workspace, "src/db.ts")], read: [join(workspace, "src"), join(workspace, "package.json")], env: { NODE_ENV: env } });
  return { once, reloaded, same };
}

test("queries go through the pooler in transaction mode", () => {
  const { hostname, port, username, pathname, protocol } = address("DATABASE_URL");
  expect({ hostname, port, username, pathname }).toEqual({ hostname: POOLER, port: "6543", username: `postgres.${REF}`, pathname: "/postgres" });
  expect(protocol).toMatch(/^postgres(ql)?:$/);
});

test("prepared statements are off", () => {
  expect(address("DATABASE_URL").searchParams.get("pgbouncer")).toBe("true");
});

test("a function holds one connection", () => {
  expect(address("DATABASE_URL").searchParams.get("connection_limit")).toBe("1");
});

test("migrations have a connection of their own", () => {
  const { directUrl } = block(/datasource\s+\w+/);
  const name = /^env\("(\w+)"\)$/.exec(directUrl ?? "")?.[1] ?? "";
  expect(name).not.toBe("");
  const { hostname, port, username, searchParams } = address(name);
  expect(port).toBe("5432");
  expect([`${POOLER} postgres.${REF}`, `db.${REF}.supabase.co postgres`]).toContain(`${hostname} ${username}`);
  expect(searchParams.get("pgbouncer")).toBeNull();
});

test("queries use the variable that the pooler's address is in", () => {
  expect(block(/datasource\s+\w+/)).toMatchObject({ provider: '"postgresql"', url: 'env("DATABASE_URL")' });
});

test("one process makes one client", async () => {
  expect(await client("production")).toMatchObject({ once: 1 });
});

test("the client stays when the module is loaded anew in development", async () => {
  expect(await client("development")).toEqual({ once: 1, reloaded: 1, same: true });
});

test("there is no password in the repository", () => {
  expect(file(".env")).toBeNull();
  for (const [name, value] of Object.entries(variables())) {
    if (value.includes("://")) expect(new URL(value).password, name).toBe("PASSWORD");
  }
  expect((file(".gitignore") ?? "").split("\n").map((line) => line.trim())).toContain(".env");
});

test("what was to stay has stayed", () => {
  const given = (path: string) => readFileSync(join(import.meta.dirname, path), "utf8");
  expect(file("src/bookings.ts")).toBe(given("src/bookings.ts"));
  expect(block(/model\s+Booking/)).toEqual(block(/model\s+Booking/, given("prisma/schema.prisma")));
  expect(JSON.parse(file("package.json") ?? "{}").scripts).toMatchObject({ migrate: "prisma migrate deploy" });
});
