import { expect, test } from "vitest";
import { ALICE, BOB, UNTOUCHED, once, perRow, project } from "./harness.mjs";

const put = (bucket: string, name: string) =>
  `insert into storage.objects (bucket_id, name) values ('${bucket}', '${name}')`;

const ready = once(async () => {
  const db = await project();
  await db.run("insert into storage.buckets (id, name) values ('avatars', 'avatars')");
  for (const name of [`${ALICE}/a.pdf`, `${ALICE}/tax/2026.pdf`, `${BOB}/b.pdf`, "top.pdf", "not-an-id/c.pdf"]) {
    await db.run(put("documents", name));
  }
  await db.run(put("avatars", `${ALICE}/me.png`));
  return db;
});

test("the platform is as it was", async () => {
  expect(await (await ready()).platform()).toEqual(UNTOUCHED);
});

test("the bucket is private", async () => {
  const db = await ready();
  expect(await db.value("select public from storage.buckets where id = 'documents'")).toBe(false);
});

test("the bucket takes PDF, PNG and JPEG files of up to 10 MB", async () => {
  const [bucket] = await (await ready()).rows(
    "select file_size_limit::int as size, allowed_mime_types as types from storage.buckets where id = 'documents'");
  expect([10_000_000, 10 * 1024 * 1024]).toContain(bucket.size);
  expect([...bucket.types].sort()).toEqual(["application/pdf", "image/jpeg", "image/png"]);
});

test("a person lists the files of their own folder only", async () => {
  const { rows } = await (await ready()).by(ALICE, "select name from storage.objects where bucket_id = 'documents' order by 1");
  expect(rows.map((row) => row.name)).toEqual([`${ALICE}/a.pdf`, `${ALICE}/tax/2026.pdf`]);
});

test("a person uploads into their own folder", async () => {
  const db = await ready();
  expect((await db.by(ALICE, `${put("documents", `${ALICE}/new.pdf`)} returning id`)).error).toBe("");
  expect((await db.by(ALICE, put("documents", `${ALICE}/deep/er/new.pdf`))).error).toBe("");
});

test("nobody uploads anywhere else", async () => {
  const db = await ready();
  for (const name of [`${BOB}/x.pdf`, "x.pdf", `x/${ALICE}/x.pdf`, ALICE, `${ALICE}x/x.pdf`]) {
    expect((await db.by(ALICE, put("documents", name))).error, name).toMatch(/row-level security/);
  }
});

test("a person replaces a file of theirs", async () => {
  const done = await (await ready()).by(
    ALICE,
    `${put("documents", `${ALICE}/a.pdf`)} on conflict (bucket_id, name) do update set updated_at = now() returning name`);
  expect(done).toMatchObject({ error: "", rows: [{ name: `${ALICE}/a.pdf` }] });
});

test("a person renames a file within their folder, and takes it nowhere else", async () => {
  const db = await ready();
  const rename = "update storage.objects set name = $2 where name = $1 returning name";
  expect((await db.by(ALICE, rename, [`${ALICE}/a.pdf`, `${ALICE}/z.pdf`])).rows).toHaveLength(1);
  for (const name of [`${BOB}/z.pdf`, "z.pdf"]) {
    expect((await db.by(ALICE, rename, [`${ALICE}/a.pdf`, name])).error, name).toMatch(/row-level security/);
  }
  // Without a condition, so that only the policy for updates decides.
  const all = `update storage.objects set name = '${BOB}/' || gen_random_uuid()`;
  expect((await db.by(ALICE, all)).error).toMatch(/row-level security/);
  const away = "update storage.objects set bucket_id = 'avatars' where name = $1";
  expect((await db.by(ALICE, away, [`${ALICE}/a.pdf`])).error).toMatch(/row-level security/);
});

test("a person deletes the files of their own folder only", async () => {
  const done = await (await ready()).as(ALICE, async (query) => {
    const gone = await query("delete from storage.objects");
    return gone.count;
  });
  expect(done).toBe(2);
});

test("no other bucket is opened", async () => {
  const db = await ready();
  expect((await db.by(ALICE, "select * from storage.objects where bucket_id = 'avatars'")).rows).toEqual([]);
  expect((await db.by(ALICE, put("avatars", `${ALICE}/x.png`))).error).toMatch(/row-level security/);
  expect((await db.by(ALICE, "update storage.objects set metadata = '{}' where bucket_id = 'avatars'")).count).toBe(0);
});

test("visitors reach nothing, and who asks is worked out once", async () => {
  const db = await ready();
  expect((await db.by("anon", "select * from storage.objects")).rows).toEqual([]);
  expect((await db.by("anon", put("documents", "x/x.pdf"))).error).not.toBe("");
  const policies = await db.policies("storage.objects");
  expect(new Set(policies.flatMap((policy) => policy.roles))).toEqual(new Set(["authenticated"]));
  expect(perRow(policies)).toEqual([]);
});
