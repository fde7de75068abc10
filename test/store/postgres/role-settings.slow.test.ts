/**
 * What an administrator sets for a role or for a database changes nothing of what is stored, read and found. The settings
 * are those that the server itself lists, so that a new one is tried as well.
 */
import { createRuntime, postgresStore } from "memcell";
import pg from "pg";
import { expect, test } from "vitest";

import { memcell } from "../../stage/command.ts";
import type { Store } from "../../stage/store.ts";
import { databaseOf, freshDatabase, prepareDatabase, sharedServer } from "../../support/postgres/fresh-database.ts";
import { soon, write } from "../store-stage.ts";
import { alice } from "./fault-stage.ts";

interface Setting {
  readonly name: string;
  readonly vartype: "bool" | "enum" | "integer" | "real" | "string";
  readonly setting: string;
  readonly min_val: string | null;
  readonly max_val: string | null;
  readonly enumvals: readonly string[] | null;
}

/** Of texts the server lists no values. All that change how a value is written, read or found; of others one or none. */
const texts: Readonly<Record<string, readonly string[]>> = {
  DateStyle: ["SQL, DMY", "German", "Postgres, YMD"],
  TimeZone: ["Asia/Kathmandu", "-09:30"],
  client_encoding: ["LATIN1", "SQL_ASCII"],
  lc_messages: ["C"],
  lc_monetary: ["C"],
  lc_numeric: ["C"],
  lc_time: ["C"],
  search_path: ["public", "public, pg_catalog", "pg_temp"],
  default_text_search_config: ["pg_catalog.simple"],
  restrict_nonsystem_relation_kind: ["view"],
  timezone_abbreviations: ["India"],
  application_name: ["other"],
};

/** What an administrator takes from a session on purpose. A call that does not get enough fails, and changes nothing. */
const withheld = new Set(["max_stack_depth", "temp_file_limit"]);
/** Of the present transaction. No role can have them. */
const ofTransaction = new Set(["transaction_deferrable", "transaction_isolation", "transaction_read_only"]);
/** Times in which something must be done: the least is a millisecond, in which nothing is. */
const isTime = (name: string): boolean => name.endsWith("_timeout");

function valuesOf({ name, vartype, setting, min_val: min, max_val: max, enumvals }: Setting): readonly string[] {
  if (withheld.has(name) || ofTransaction.has(name)) return [];
  const ends = isTime(name) ? ["30000"] : [min ?? "0", max ?? "0"];
  const byType = { bool: ["on", "off"], enum: enumvals ?? [], string: texts[name] ?? [], integer: ends, real: ends };
  return byType[vartype].filter((value) => value !== setting);
}

async function settings(): Promise<Setting[]> {
  const admin = await (await sharedServer()).connect();
  const { rows } = await admin.query<Setting>(
    "SELECT name, vartype, setting, min_val, max_val, enumvals FROM pg_settings WHERE context = 'user' ORDER BY name",
  );
  await admin.end();
  return rows;
}

const body = "NULL {\"a\\nb\", 'c'} \\x41 ü \u{1f600}\n";

/** Writes and reads as a host that starts now. Returns what is not as it must be. */
async function faultsWith(url: string, round: number): Promise<string[]> {
  const store: Store = postgresStore({ url }).open(() => {});
  const faults: string[] = [];
  try {
    await store.hold(alice, soon(), async (held) => {
      const before = held.history.head.seq;
      await held.commit([write(`f${round % 5}.md`, `${body}${round}`), write("NULL.md", body)], []);
      if (held.history.head.seq !== before + 1) faults.push(`version ${held.history.head.seq} came after ${before}`);
    });
    await store.hold(alice, soon(), async (held) => {
      const found = String(await held.reader.bytesOf("memory", `f${round % 5}.md`));
      if (found !== `${body}${round}`) faults.push(`it read ${found}`);
      const origin = await held.history.originOf("memory", `f${round % 5}.md`);
      if (origin?.seq !== held.history.head.seq) faults.push(`version ${origin?.seq} has written it`);
      for (const { message } of await held.findings()) faults.push(message);
    });
    await store.holdRecords(alice, soon(), async (records) => {
      await records.write("runs", "n", body);
      if ((await records.read("runs", "n")) !== body) faults.push("a record has changed");
    });
  } catch (error) {
    faults.push(`${String(error)} ${String((error as Error).cause)}`);
  } finally {
    await store.close();
  }
  return faults;
}

test.for(["ROLE", "DATABASE"])(
  "no setting of the %s changes what is written, read or found",
  { timeout: 600_000 },
  async (of) => {
    const url = await freshDatabase();
    // A history with numbers that have more digits than some settings show.
    for (let round = 0; round < 12; round++) expect(await faultsWith(url, round)).toEqual([]);
    const admin = await (await sharedServer()).connect();
    const target = of === "ROLE" ? `ROLE memcell_host IN DATABASE ${databaseOf(url)}` : `DATABASE ${databaseOf(url)}`;
    const faults: string[] = [];
    let tried = 0;
    for (const setting of await settings()) {
      for (const value of valuesOf(setting)) {
        const list = setting.name === "search_path" || setting.name === "DateStyle";
        const quoted = list ? value : `'${value}'`;
        await admin.query(`ALTER ${target} SET ${setting.name} = ${quoted}`);
        const found = await faultsWith(url, ++tried);
        faults.push(...found.map((fault) => `${setting.name} = ${value}: ${fault}`));
        await admin.query(`ALTER ${target} RESET ${setting.name}`);
      }
    }
    await admin.end();
    expect(faults).toEqual([]);
    expect(tried).toBeGreaterThan(150);
  },
);

test("acknowledged is durable, whatever the role says of commits", async () => {
  const url = await freshDatabase();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("SET synchronous_commit = off");
  await client.query("BEGIN");
  const who = "11111111-1111-4111-8111-111111111111";
  await client.query("SELECT memcell.enter($1, 0, false, '{}', '{}', '{}', 1000)", [who]);
  expect((await client.query("SHOW synchronous_commit")).rows).toEqual([{ synchronous_commit: "on" }]);
  await client.end();
});

test("a database is migrated and checked, and a runtime starts, whatever its settings", async () => {
  const server = await sharedServer();
  const name = "memcell_with_settings";
  await server.createDatabase(name);
  const admin = await server.connect();
  for (const each of ["default_transaction_read_only = on", "row_security = off", "search_path = public, pg_catalog"]) {
    await admin.query(`ALTER DATABASE ${name} SET ${each}`);
  }
  await admin.query(`ALTER DATABASE ${name} SET extra_float_digits = -14`);
  await admin.end();
  await prepareDatabase(server, name);
  const url = server.url("memcell_host", name);
  const db = (action: string, role: string) => memcell(["db", action, "--store", server.url(role, name)]);
  expect(await db("migrate", "postgres")).toMatchObject({ status: 0, stdout: "nothing to do\n" });
  expect(await db("check", "memcell_host")).toMatchObject({ status: 0, stdout: "as it must be\n" });
  await using runtime = await createRuntime({ store: postgresStore({ url }), threadsMax: 1 });
  const entry = { action: "upsert", type: "user", name: "a", description: "d", body: "one" };
  expect(await runtime.call("UpdateUserMemory", entry, { userId: alice })).toMatchObject({ ok: true });
  expect(await runtime.upkeep.inspect({ userId: alice })).toEqual([]);
});
