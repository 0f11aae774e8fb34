// The database behind the tests: PGlite, or with EVAL_POSTGRES a real server, to compare the two.
//
// EVAL_POSTGRES is the folder of the server's Unix socket; each test file gets a new database there.

/** exec(sql): several statements. query(sql, values): {rows, count}. listen(channel, heard). close(). */
export async function connect() {
  return process.env.EVAL_POSTGRES ? server(process.env.EVAL_POSTGRES) : inProcess();
}

async function inProcess() {
  const { PGlite } = await import("@electric-sql/pglite");
  const { pg_trgm } = await import("@electric-sql/pglite/contrib/pg_trgm");
  const { dataDir } = await import("@electric-sql/pglite-prepopulatedfs");
  const db = await PGlite.create({ loadDataDir: await dataDir(), extensions: { pg_trgm } });
  return {
    exec: (sql) => db.exec(sql),
    query: async (sql, values) => {
      const { rows, affectedRows, fields } = await db.query(sql, values);
      return { rows, count: fields.length ? rows.length : affectedRows ?? 0 };
    },
    listen: (channel, heard) => db.listen(channel, heard),
    close: () => db.close(),
  };
}

async function server(host) {
  const { default: pg } = await import("pg");
  const user = "postgres";
  const name = `eval_${process.pid}_${Math.floor(performance.now())}`;
  const owner = new pg.Client({ host, user, database: "postgres" });
  await owner.connect();
  // Roles are the whole server's: what an earlier answer did to them is undone. (So one test file runs at a time.)
  const roles = "'anon', 'authenticated', 'service_role'";
  for (const { rolname } of (await owner.query(`select rolname from pg_roles where rolname in (${roles})`)).rows) {
    await owner.query(`alter role ${rolname} reset all`);
    await owner.query(`alter role ${rolname} nosuperuser ${rolname === "service_role" ? "bypassrls" : "nobypassrls"}`);
  }
  await owner.query(`create database ${name}`);
  const client = new pg.Client({ host, user, database: name });
  await client.connect();
  return {
    exec: (sql) => client.query(sql),
    query: async (sql, values) => {
      const { rows, rowCount } = await client.query(sql, values);
      return { rows, count: rowCount ?? 0 };
    },
    listen: async (channel, heard) => {
      client.on("notification", (message) => message.channel === channel && heard(message.payload));
      await client.query(`listen ${channel}`);
    },
    close: async () => {
      await client.end();
      await owner.query(`drop database ${name} with (force)`);
      await owner.end();
    },
  };
}
