/**
 * `npm run bench:postgres`: the store in a database against the store in a folder and against the naive way, in one run.
 * Everything lies below TMPDIR, so on one disk, and every commit is durable.
 *
 * usage: node dist/test/bench/postgres/main.js [--rounds N] [--users N]
 */
import { join } from "node:path";
import { parseArgs } from "node:util";

import { postgresStore } from "memcell";

import { prepareDatabase } from "../../support/postgres/fresh-database.ts";
import { startPostgres } from "../../support/postgres/postgres-server.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { NoiseProbe } from "../machine.ts";
import { median } from "../statistics.ts";
import { takeTurns } from "../take-turns.ts";
import { naively, ours } from "./contestants.ts";
import { countTurns } from "./count-turns.ts";
import { throughputOf } from "./many-hosts.ts";
import { fillWithUsers, firstCalls, sizesOf } from "./many-users.ts";

const entries = 40;

const { values } = parseArgs({
  options: { rounds: { type: "string", default: "10" }, users: { type: "string", default: "100000" } },
});

await using server = await startPostgres({ fsync: true, maxConnections: 200, settings: { max_wal_size: "4GB" } });
using folder = temporaryFolder();

async function database(name: string): Promise<string> {
  await server.createDatabase(name);
  await prepareDatabase(server, name);
  return server.url("memcell_host", name);
}

await compare();
await turns();
for (const hosts of [1, 2, 3]) {
  const made = await throughputOf(hosts, await database(`hosts${hosts}`));
  console.log(`${hosts} hosts, 50 users: ${made.toFixed(0)} upserts/s`);
}
await manyUsers(Number(values.users));

async function compare(): Promise<void> {
  await server.createDatabase("naive");
  await using files = await ours("files", { dataDir: join(folder.path, "data") });
  await using rows = await ours("PostgreSQL", { store: postgresStore({ url: await database("one") }) });
  await using naive = await naively(server.url("postgres", "naive"));
  const contestants = [files, rows, naive].flatMap(({ name, upsert, read }) => [
    { key: `${name}: upsert`, run: ({ at, round }: { at: number; round: number }) => upsert(at, round) },
    { key: `${name}: read`, run: ({ at }: { at: number }) => read(at) },
  ]);
  using noise = new NoiseProbe(folder.path);
  const run = { rounds: Number(values.rounds), isQuick: false, folder: folder.path, noise };
  // The reads of the first round find no entry of a contestant whose turn to write has not come.
  for (const { upsert } of [files, rows, naive]) for (let at = 0; at < entries; at++) await upsert(at, -3);
  const found = await takeTurns(run, contestants, { passes: 1, block: entries, warmUpRounds: 2 });
  for (const { key } of contestants) console.log(`${key} ${median(found(key).flat()).toFixed(2)} ms`);
}

async function turns(): Promise<void> {
  await database("turns");
  const socket = new URLSearchParams(server.url().split("?")[1]).get("host") ?? "";
  await using counter = await countTurns(join(socket, ".s.PGSQL.5432"));
  const url = `postgres://memcell_host@/turns?host=${encodeURIComponent(counter.folder)}`;
  await using rows = await ours("PostgreSQL", { store: postgresStore({ url }) });
  for (let at = 0; at < 20; at++) await rows.upsert(at, 0);
  for (const [name, work] of [
    ["upsert", () => rows.upsert(3, 1)],
    ["read", () => rows.read(3)],
  ] as const) {
    // What is told to other hosts comes later, and is no part of a call.
    const before = counter.turns;
    await work();
    console.log(`${name}: ${counter.turns - before} round trips`);
  }
}

async function manyUsers(users: number): Promise<void> {
  console.log(`first call of a new user, empty database: ${shown(await firstCalls(await database("empty")))}`);
  const url = await database("many");
  await fillWithUsers(server.url("postgres", "many"), users);
  console.log(`of ${users} users: ${shown(await firstCalls(url))}`);
  for (const [table, mib] of await sizesOf(server.url("postgres", "many"))) {
    console.log(`${table}: ${mib.toFixed(1)} MiB`);
  }
}

function shown({ upsertMs, readMs }: Awaited<ReturnType<typeof firstCalls>>): string {
  return `upsert ${upsertMs.toFixed(2)} ms, read ${readMs.toFixed(2)} ms`;
}
