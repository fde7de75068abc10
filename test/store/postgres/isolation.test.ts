/** Tenants are kept apart by the database, whatever a host asks it for. */
import { createRuntime, postgresStore } from "memcell";
import pg from "pg";
import { describe, expect, test } from "vitest";

import { checkDatabase } from "../../../host/store/postgres/check-database.ts";
import { databaseOf, freshDatabase, sharedServer, tables } from "../../support/postgres/fresh-database.ts";
import { IsolationStage, others } from "./isolation-stage.ts";

/** The stage, and an administrator's address of its database. */
async function filled(): Promise<{ stage: IsolationStage; adminUrl: string }> {
  const url = await freshDatabase();
  const server = await sharedServer();
  const stage = new IsolationStage(url);
  await stage.fill();
  return { stage, adminUrl: server.url("postgres", databaseOf(url)) };
}

async function asAdmin(adminUrl: string, sql: string): Promise<void> {
  const admin = new pg.Client({ connectionString: adminUrl });
  await admin.connect();
  try {
    await admin.query(sql);
  } finally {
    await admin.end();
  }
}

const brokenPrincipal = `CREATE OR REPLACE FUNCTION memcell.principal() RETURNS uuid LANGUAGE sql STABLE
  AS $$ SELECT tenant FROM memcell.list_homes('user') LIMIT 1 $$`;

describe("every statement, for another tenant's rows, over the same connection", () => {
  test.each([false, true])(
    "shows nothing and changes nothing; after an error in the other's call: %s",
    async (after) => {
      const { stage, adminUrl } = await filled();
      await using _stage = stage;
      expect(await stage.leaks(adminUrl, after)).toEqual([]);
    },
  );

  test.each([
    ["the policies' function answers with the other's id", brokenPrincipal],
    ["a table has no row-level security", "ALTER TABLE memcell.files DISABLE ROW LEVEL SECURITY"],
    ["a policy lets everybody read", "CREATE POLICY all_of_it ON memcell.contents FOR SELECT USING (true)"],
    ["a policy lets everybody write", "CREATE POLICY all_of_it ON memcell.records USING (true) WITH CHECK (true)"],
    [
      "a function runs as a superuser",
      "ALTER FUNCTION memcell.find_files SECURITY DEFINER; ALTER FUNCTION memcell.find_files OWNER TO postgres",
    ],
  ])("is seen to leak if %s", async (_name, sql) => {
    const { stage, adminUrl } = await filled();
    await using _stage = stage;
    await asAdmin(adminUrl, sql);
    expect(await stage.leaks(adminUrl, false)).not.toEqual([]);
  });
});

test("whoever does not say who acts sees nothing, also after another has said so on the same connection", async () => {
  const { stage } = await filled();
  await using _stage = stage;
  const client = new pg.Client({ connectionString: stage.url });
  await client.connect();
  const counts = async (): Promise<unknown[]> => {
    const all = tables.map((table) => client.query<{ count: string }>(`SELECT count(*) FROM memcell.${table}`));
    return [...new Set((await Promise.all(all)).map(({ rows }) => rows[0]?.count))];
  };
  expect(await counts()).toEqual(["0"]);
  await client.query("BEGIN");
  await client.query("SELECT set_config('memcell.principal', $1, true)", [others]);
  expect(await counts()).toContain("1");
  await client.query("ROLLBACK");
  expect(await counts()).toEqual(["0"]);
  await client.end();
});

describe("a runtime refuses to start", () => {
  const roles = [
    ["a superuser", "postgres", /postgres, which can bypass row-level security/],
    [
      "a role that bypasses policies",
      "CREATE ROLE r1 LOGIN BYPASSRLS IN ROLE memcell_app",
      /r1, which can bypass row-level/,
    ],
    ["a role that can become such a one", "CREATE ROLE r2 LOGIN IN ROLE memcell_app, r1", /r2 is or can become r1/],
    ["a migrator", "CREATE ROLE r3 LOGIN IN ROLE memcell_app, memcell_migrator", /r3 can become memcell_owner/],
    ["a role that creates roles", "CREATE ROLE r5 LOGIN CREATEROLE IN ROLE memcell_app", /r5 is or can become r5/],
    [
      "a role that may write everywhere",
      "CREATE ROLE r6 LOGIN IN ROLE memcell_app, pg_write_all_data",
      /r6 is or can become pg_write_all_data/,
    ],
    ["a role that may nothing", "CREATE ROLE r4 LOGIN", /no member of memcell_app/],
  ] as const;
  test.each(roles)("as %s", async (_name, sql, says) => {
    const url = await freshDatabase();
    const server = await sharedServer();
    const role = /ROLE (r\d)/.exec(sql)?.[1] ?? sql;
    if (role !== sql) await asAdmin(server.url(), sql);
    const starting = createRuntime({ store: postgresStore({ url: server.url(role, databaseOf(url)) }) });
    await expect(starting).rejects.toMatchObject({ code: "STORAGE_FAILED", message: expect.stringMatching(says) });
  });

  const changes = [
    ["ALTER TABLE memcell.files NO FORCE ROW LEVEL SECURITY", "table files has no forced row-level security"],
    ["ALTER TABLE memcell.grants OWNER TO postgres", "table grants is postgres's, allowed: memcell_owner's"],
    ["CREATE VIEW memcell.v AS SELECT * FROM memcell.files", "view v bypasses row-level security"],
    ["GRANT UPDATE ON memcell.changes TO memcell_app", "the host's role can change the history"],
    ["GRANT UPDATE (lines) ON memcell.changes TO memcell_host", "the host's role can change the history"],
    ["GRANT TRUNCATE ON memcell.files TO PUBLIC", "has TRUNCATE or TRIGGER on files"],
    ["CREATE POLICY everybody ON memcell.contents USING (true)", "policy contents.everybody does not ask who acts"],
    ["ALTER POLICY reads ON memcell.files USING (true)", "policy files.reads does not ask who acts"],
    [
      "CREATE TRIGGER t BEFORE INSERT ON memcell.files EXECUTE FUNCTION pg_catalog.suppress_redundant_updates_trigger()",
      "table files has a trigger",
    ],
    [brokenPrincipal, "function principal is not as the migrations have made it"],
    ["ALTER SCHEMA memcell OWNER TO postgres", "the schema is postgres's, allowed: memcell_owner's"],
    ["ALTER FUNCTION memcell.erase RESET ALL", "function erase runs as its owner with the caller's search path"],
    ["INSERT INTO memcell.migrations VALUES ('9999-later')", "it is newer, it has 9999-later"],
    ["DELETE FROM memcell.migrations WHERE name = '0007-rights'", "0007-rights is not applied"],
    ["DROP SCHEMA memcell CASCADE", "is not applied, run memcell db migrate"],
  ] as const;
  test.each(changes)("after %s", async (sql, says) => {
    const url = await freshDatabase();
    const server = await sharedServer();
    await asAdmin(server.url("postgres", databaseOf(url)), sql);
    const starting = createRuntime({ store: postgresStore({ url }) });
    await expect(starting).rejects.toMatchObject({ code: "STORAGE_FAILED", message: expect.stringContaining(says) });
  });
});

test("a database as the migrations leave it has no findings", async () => {
  const client = new pg.Client({ connectionString: await freshDatabase() });
  await client.connect();
  expect(await checkDatabase(client)).toEqual([]);
  await client.end();
});
