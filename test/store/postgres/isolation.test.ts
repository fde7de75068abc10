/** Tenants are kept apart by the database, whatever a host asks it for. */
import { createRuntime, postgresStore } from "memcell";
import pg from "pg";
import { describe, expect, test } from "vitest";

import { openPostgres } from "../../stage/open-store.ts";
import { oneIn } from "../../stage/seed.ts";
import { digestOf, ownStoreOf } from "../../stage/store.ts";
import type { StoreId, UserId } from "../../stage/store.ts";
import {
  administratorOf,
  asAdministrator,
  databaseOf,
  freshDatabase,
  sharedServer,
  tables,
} from "../../support/postgres/fresh-database.ts";
import { commitIn, granting, newStoreId, soon, to, write, writeIn } from "../store-stage.ts";

const [own, others] = ["alice", "bob"].map((name) => ownStoreOf(name as UserId)) as [StoreId, StoreId];
const secret = "bob's secret";
const words = [secret, Buffer.from(secret).toString("hex"), digestOf(Buffer.from(secret)) ?? ""];

interface Filled {
  readonly url: string;
  readonly admin: pg.Client;
}

/** A database in which Bob has something in every table but that of the erased. */
async function filled(): Promise<Filled> {
  const url = await freshDatabase();
  const store = openPostgres({ url });
  const bob = "bob" as UserId;
  const [store1, store2] = [ownStoreOf(bob), newStoreId()];
  await store.holdUser(bob, soon(), (held) => held.commit([write("a.md", secret)], []));
  await store.holdRecords(bob, soon(), (records) => records.write("pending", "w", secret));
  await store.holdStores([store2], soon(), (held) =>
    commitIn(held, [], { by: null, ...granting(store2, "", { granted: [to(store1)] }) }),
  );
  const grants = granting(store1, secret, { granted: [to(newStoreId())] });
  await store.holdStores([store1], soon(), (held) =>
    commitIn(held, [writeIn(store1, "a.md", secret)], { by: bob, ...grants }),
  );
  await store.leave(store1, store2, true);
  await store.close();
  return { url, admin: await administratorOf(url) };
}

/** Everything that is Bob's, as an administrator sees it. */
async function allOf({ admin }: Filled): Promise<string> {
  const rows = tables.map((table) =>
    admin.query(`SELECT * FROM memcell.${table} WHERE tenant = $1 ORDER BY 1, 2`, [others]),
  );
  return JSON.stringify((await Promise.all(rows)).map((found) => found.rows));
}

const enter = "SELECT memcell.enter($1, 0, false, '{}', '{}', '{}', 1000)";

/** Statements for each table and each function of the schema, with Bob's id wherever one fits. */
async function attacks({ admin }: Filled): Promise<string[]> {
  const found: string[] = [];
  for (const table of tables) {
    const { rows } = await admin.query<{ row: object }>(
      `SELECT to_json(t) AS row FROM memcell.${table} t WHERE tenant = $1 LIMIT 1`,
      [others],
    );
    const row = admin.escapeLiteral(JSON.stringify(rows[0]?.row ?? { tenant: others }));
    found.push(
      `SELECT * FROM memcell.${table} WHERE tenant = '${others}'`,
      `UPDATE memcell.${table} SET tenant = '${own}' WHERE tenant = '${others}'`,
      `DELETE FROM memcell.${table} WHERE tenant = '${others}'`,
      `INSERT INTO memcell.${table} SELECT * FROM json_populate_record(NULL::memcell.${table}, ${row})`,
    );
  }
  const { rows } = await admin.query<{ name: string; args: string[]; types: string[] }>(
    `SELECT proname AS name, coalesce(proargnames[1:pronargs], '{}') AS args,
      ARRAY(SELECT format_type(unnest(proargtypes), NULL)) AS types
      FROM pg_proc WHERE pronamespace = 'memcell'::regnamespace AND proname <> 'enter' ORDER BY 1`,
  );
  for (const { name, args, types } of rows) {
    for (const kind of ["user", "store"]) {
      const values = types.map((type, at) => `${valueOf(type, args[at] ?? "", kind)}::${type}`);
      found.push(`SELECT f.*, encode(convert_to(f::text, 'UTF8'), 'escape') FROM memcell.${name}(${values.join()}) f`);
    }
  }
  return found;
}

function valueOf(type: string, name: string, kind: string): string {
  if (type.startsWith("uuid")) return type.endsWith("[]") ? `'{${others}}'` : `'${others}'`;
  if (type === "bytea[]") return `ARRAY[decode('${name === "contents" ? "00" : words[2]}', 'hex')]`;
  const inScope = { scope: kind === "user" ? "memory" : "entries", path: "a.md", of_kin: kind };
  const fitting = Object.entries(inScope).find(([part]) => name.includes(part))?.[1];
  const value = fitting ?? (type.startsWith("text") ? "x" : type === "boolean" ? "true" : "10000");
  return type.endsWith("[]") ? `'{${value}}'` : `'${value}'`;
}

/** The statements by which Alice gets, or changes, something of Bob's. `isAfterError`: each on a connection of Bob's. */
async function leaks(stage: Filled, isAfterError = false): Promise<string[]> {
  const client = new pg.Client({ connectionString: stage.url });
  await client.connect();
  const found: string[] = [];
  const before = await allOf(stage);
  for (const attack of await attacks(stage)) {
    if (isAfterError) {
      await client.query("BEGIN");
      await client.query(enter, [others]);
      await expect(client.query("SELECT 1 / 0")).rejects.toThrow();
      await client.query("ROLLBACK");
    }
    await client.query("BEGIN");
    await client.query(enter, [own]);
    const { rowCount, rows } = await client.query(attack).catch(refused);
    await client.query("COMMIT");
    const touches = attack.startsWith("SELECT f.*") ? 0 : (rowCount ?? 0);
    const shows = words.some((word) => JSON.stringify(rows).includes(word));
    if (touches > 0 || shows || (await allOf(stage)) !== before) found.push(attack);
  }
  await client.end();
  return found;
}

/** Anything but a lack of rights shows something: that a row is there, or what it is compared with. */
function refused(error: unknown): { rowCount: number; rows: string[] } {
  const { code = "", message } = error as { code?: string; message: string };
  return { rowCount: /^(?:23505|23503)$/.test(code) ? 1 : 0, rows: [message] };
}

const brokenPrincipal = `CREATE OR REPLACE FUNCTION memcell.principal() RETURNS uuid LANGUAGE sql STABLE
  AS $$ SELECT tenant FROM memcell.list_homes('user') LIMIT 1 $$`;

describe("every table and every function, for another tenant's rows, over the same connection", () => {
  test.each([false, true])(
    "shows and changes nothing; after an error in the other's call: %s",
    async (isAfterError) => {
      const stage = await filled();
      expect((await attacks(stage)).length).toBeGreaterThan(60);
      expect(await leaks(stage, isAfterError)).toEqual([]);
      await stage.admin.end();
    },
  );

  test.for(
    oneIn(2, [
      ["the policies' function answers with the other's id", brokenPrincipal],
      ["a table has no row-level security", "ALTER TABLE memcell.files DISABLE ROW LEVEL SECURITY"],
      ["a policy lets everybody read", "CREATE POLICY all_of_it ON memcell.contents FOR SELECT USING (true)"],
      ["a policy lets everybody write", "CREATE POLICY all_of_it ON memcell.records USING (true) WITH CHECK (true)"],
      ["a function runs as a superuser", "ALTER FUNCTION memcell.find_files SECURITY DEFINER OWNER TO postgres"],
    ] as const),
  )("is seen to leak if %s", async ([, sql]) => {
    const stage = await filled();
    await stage.admin.query(sql.replace(" OWNER TO", "; ALTER FUNCTION memcell.find_files OWNER TO"));
    expect(await leaks(stage)).not.toEqual([]);
    await stage.admin.end();
  });
});

test("whoever does not say who acts sees nothing, also after another has said so on the same connection", async () => {
  const { url, admin } = await filled();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const counts = async (): Promise<unknown[]> => {
    const all = tables.map((table) => client.query<{ count: string }>(`SELECT count(*) FROM memcell.${table}`));
    return [...new Set((await Promise.all(all)).map(({ rows }) => rows[0]?.count))];
  };
  expect(await counts()).toEqual(["0"]);
  for (const end of ["ROLLBACK", "COMMIT"]) {
    await client.query("BEGIN");
    await client.query(enter, [others]);
    expect(await counts()).toContain("1");
    await client.query(end);
    expect(await counts()).toEqual(["0"]);
  }
  await Promise.all([client.end(), admin.end()]);
});

describe("a runtime refuses to start", () => {
  test.each([
    ["a superuser", "postgres", /postgres, which can bypass row-level security/],
    [
      "one that bypasses policies",
      "CREATE ROLE r1 LOGIN BYPASSRLS IN ROLE memcell_app",
      /r1, which can bypass row-level/,
    ],
    ["one that can become such a one", "CREATE ROLE r2 LOGIN IN ROLE memcell_app, r1", /r2 is or can become r1/],
    ["a migrator", "CREATE ROLE r3 LOGIN IN ROLE memcell_app, memcell_migrator", /r3 can become memcell_owner/],
    ["one that creates roles", "CREATE ROLE r5 LOGIN CREATEROLE IN ROLE memcell_app", /r5 is or can become r5/],
    [
      "one that may write everywhere",
      "CREATE ROLE r6 LOGIN IN ROLE memcell_app, pg_write_all_data",
      /r6 is or can become pg_write_all_data/,
    ],
    ["one that may nothing", "CREATE ROLE r4 LOGIN", /no member of memcell_app/],
  ])("as a role: %s", async (_name, sql, says) => {
    const url = await freshDatabase();
    const server = await sharedServer();
    const role = /ROLE (r\d)/.exec(sql)?.[1] ?? sql;
    if (role !== sql) await server.run(sql);
    const starting = createRuntime({ store: postgresStore({ url: server.url(role, databaseOf(url)) }) });
    await expect(starting).rejects.toMatchObject({ code: "STORAGE_FAILED", message: expect.stringMatching(says) });
  });

  test.each([
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
  ])("after %s", async (sql, says) => {
    const url = await freshDatabase();
    await asAdministrator(url, sql);
    const starting = createRuntime({ store: postgresStore({ url }) });
    await expect(starting).rejects.toMatchObject({ code: "STORAGE_FAILED", message: expect.stringContaining(says) });
  });
});
