// What the hidden tests share: a database with the workspace's migrations, people who act in it, and its files.
import { readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { connect } from "./engine.mjs";

const here = dirname(fileURLToPath(import.meta.url));
export const workspace = process.env.EVAL_WORKSPACE;

/** Users who are there before a test begins. */
export const ALICE = "a11ce000-0000-4000-8000-000000000001";
export const BOB = "b0b00000-0000-4000-8000-000000000002";
export const CAROL = "ca401000-0000-4000-8000-000000000003";

/** What is looked through for names without a schema, in migrations and by the API. */
const SEARCH_PATH = 'set search_path = "$user", public, extensions';

/** Whether a path of a tree is there, by no link: what a link leads to is not the workspace's. */
function isThere(tree, path) {
  try {
    return realpathSync(join(tree, path)) === join(realpathSync(tree), path);
  } catch {
    return false;
  }
}

/** The text of a file of the workspace, null where there is none. */
export function file(path) {
  return isThere(workspace, path) ? readFileSync(join(workspace, path), "utf8") : null;
}

/** The names of a tree's migrations, in the order in which they are applied: files of the form that the platform takes. */
export function migrations(tree = workspace) {
  const folder = "supabase/migrations";
  if (!isThere(tree, folder)) return [];
  return readdirSync(join(tree, folder), { withFileTypes: true })
    .filter((entry) => entry.isFile() && /^\d+_.*\.sql$/s.test(entry.name))
    .map((entry) => entry.name)
    .sort();
}

/** The files beside the migrations that are passed over, as the platform's own tools pass over them. */
function passedOver() {
  const folder = "supabase/migrations";
  if (!isThere(workspace, folder)) return [];
  return readdirSync(join(workspace, folder)).filter((name) => name.endsWith(".sql") && !migrations().includes(name));
}

/** What is not as it should be of the migrations that were there: those that changed, and new ones in front of them. */
export function history() {
  const given = migrations(here);
  const changed = given.filter(
    (name) => file(`supabase/migrations/${name}`) !== readFileSync(join(here, "supabase/migrations", name), "utf8"));
  return [...changed, ...migrations().filter((name) => !given.includes(name) && name < given.at(-1))];
}

/**
 * A new database: the platform, three users, then every migration. `between` is called with the database when those are
 * applied that were there from the beginning (they lie beside the tests), before the others.
 */
export async function project({ between } = {}) {
  const db = await platform();
  await db.run(`insert into auth.users (id, email) values
    ('${ALICE}', 'alice@example.com'), ('${BOB}', 'bob@example.com'), ('${CAROL}', 'carol@example.com')`);
  const names = migrations();
  for (const name of passedOver()) console.warn(`${name} is not applied: a migration is a file <timestamp>_<name>.sql`);
  const given = migrations(here).length;
  for (const [index, name] of names.entries()) {
    if (index === given && between) await between(db);
    await db.apply(name);
  }
  await db.endSession();
  if (names.length <= given && between) await between(db);
  return db;
}

/** A database with the platform alone. No answer has a part in this: where it fails, run.mjs tells of a broken tool. */
async function platform() {
  let timer;
  const late = new Promise((_, failed) => {
    timer = setTimeout(() => failed(new Error("the database did not start")), 45_000);
  });
  const start = async () => {
    const db = new Database(await connect());
    await db.run(readFileSync(join(here, "bootstrap.sql"), "utf8") + SEARCH_PATH);
    return db;
  };
  try {
    return await Promise.race([start(), late]);
  } catch (error) {
    writeFileSync(join(here, ".broken"), `${error?.message ?? error}`);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * The same thing for all tests of a file, made by the first that asks. Where it cannot be made each of them fails, with
 * the reason.
 */
export function once(make) {
  let made;
  return () => (made ??= make());
}

export class Database {
  constructor(engine) {
    this.engine = engine;
  }

  async run(sql) {
    await this.engine.exec(sql);
  }

  /** Apply one migration, as a transaction of its own. */
  async apply(name) {
    const sql = readFileSync(join(workspace, "supabase/migrations", name), "utf8");
    try {
      await this.engine.exec(sql);
    } catch (error) {
      await this.engine.exec("rollback").catch(() => {});
      throw new Error(`migration ${name} cannot be applied: ${error.message}`);
    }
    // What was begun and not committed is undone, as where a migration's connection ends.
    await this.engine.exec("rollback");
    await this.engine.exec(`set session authorization default; reset all; reset role; ${SEARCH_PATH}`);
  }

  /** What a session leaves to nobody else is gone: temporary tables above all, which stand in front of the catalog's. */
  async endSession() {
    await this.engine.exec("discard temp; deallocate all; close all");
  }

  /** The rows of a query by the database's owner. */
  async rows(sql, values = []) {
    return (await this.engine.query(sql, values)).rows;
  }

  /** The first value of the first row. */
  async value(sql, values = []) {
    const [row] = await this.rows(sql, values);
    return row === undefined ? undefined : Object.values(row)[0];
  }

  /**
   * Do something as one of the API's roles, in a transaction that is rolled back at its end.
   *
   * who: a user's id, "anon" or "service_role". settings: further settings of the session. `act` is called with a
   * function that runs a statement and tells {rows, count, error}, where error is "" if it was done: a statement that is refused ends none of the others.
   */
  async as(who, act, settings = {}) {
    const role = ["anon", "service_role"].includes(who) ? who : "authenticated";
    const claims = role === "authenticated" ? { sub: who, role } : { role };
    await this.engine.exec("begin");
    try {
      await this.engine.query("select set_config('request.jwt.claims', $1, true)", [JSON.stringify(claims)]);
      for (const [name, value] of Object.entries(settings)) {
        await this.engine.query("select set_config($1, $2, true)", [name, value]);
      }
      await this.engine.exec(`set local role ${role}`);
      return await act(async (sql, values = []) => {
        await this.engine.exec("savepoint step");
        try {
          const { rows, count } = await this.engine.query(sql, values);
          await this.engine.exec("release savepoint step");
          return { rows, count, error: "" };
        } catch (error) {
          await this.engine.exec("rollback to savepoint step");
          return { rows: [], count: 0, error: error.message };
        }
      });
    } finally {
      await this.engine.exec("rollback");
    }
  }

  /** One statement of somebody, see `as`. */
  async by(who, sql, values = [], settings = {}) {
    return this.as(who, (query) => query(sql, values), settings);
  }

  /** Row level security of a table: {on, forced}; undefined where there is no such table. */
  async security(table) {
    const [row] = await this.rows(
      "select relrowsecurity as on, relforcerowsecurity as forced from pg_class where oid = to_regclass($1)", [table]);
    return row;
  }

  /** The policies of a table: name, cmd, roles, qual, with_check. */
  async policies(table) {
    const [schema, name] = table.split(".");
    return this.rows(
      `select policyname as name, cmd, roles::text[] as roles, coalesce(qual, '') as qual,
              coalesce(with_check, '') as with_check
         from pg_policies where schemaname = $1 and tablename = $2 order by 1`, [schema, name]);
  }

  /** Whether the platform is as it was: its roles' rights, and the functions that tell who asks. */
  async platform() {
    return {
      bypass: await this.rows(
        `select rolname as role, rolbypassrls or rolsuper as bypasses from pg_roles
          where rolname in ('anon', 'authenticated', 'service_role') order by 1`),
      uid: (await this.value("select prosrc from pg_proc where oid = 'auth.uid()'::regprocedure")).trim(),
      storage: await this.security("storage.objects"),
      realtime: await this.security("realtime.messages"),
    };
  }

  async close() {
    await this.engine.close();
  }
}

/** What `platform()` tells of a project that did not change its platform. */
export const UNTOUCHED = {
  bypass: [
    { role: "anon", bypasses: false },
    { role: "authenticated", bypasses: false },
    { role: "service_role", bypasses: true },
  ],
  uid: "select nullif(auth.jwt() ->> 'sub', '')::uuid",
  storage: { on: true, forced: false },
  realtime: { on: true, forced: false },
};

/** Expressions of policies that call auth.uid() and its like once for each row, not in a sub-select. */
export function perRow(policies) {
  const bare = /(?<!SELECT )auth\.(uid|jwt|role)\(\)/;
  return policies.filter(({ qual, with_check }) => bare.test(qual) || bare.test(with_check)).map(({ name }) => name);
}
