/**
 * `npm run bench:postgres`: the store in a database against the store in a folder and against the naive way, in one run.
 * Everything lies below TMPDIR, so on one disk, and every commit is durable.
 *
 * usage: node dist/test/bench/postgres/main.js [--rounds N] [--users N]
 */
import { join } from "node:path";
import { parseArgs } from "node:util";

import { prepareDatabase } from "../../support/postgres/fresh-database.ts";
import { startPostgres } from "../../support/postgres/postgres-server.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { inDatabase, inFolder, naively } from "./contestants.ts";
import { countTurns } from "./count-turns.ts";
import { throughputOf } from "./many-hosts.ts";
import { fillWithUsers, firstCalls, sizesOf } from "./many-users.ts";
import { takeRounds } from "./take-rounds.ts";

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
  await using files = await inFolder(join(folder.path, "data"));
  await using rows = await inDatabase(await database("one"));
  await using naive = await naively(server.url("postgres", "naive"));
  const times = await takeRounds([files, rows, naive], Number(values.rounds));
  for (const [name, { upsertMs, readMs }] of times) {
    console.log(`${name}: upsert ${upsertMs.toFixed(2)} ms, read ${readMs.toFixed(2)} ms`);
  }
}

async function turns(): Promise<void> {
  await database("turns");
  const socket = new URLSearchParams(server.url().split("?")[1]).get("host") ?? "";
  await using counter = await countTurns(join(socket, ".s.PGSQL.5432"));
  const url = `postgres://memcell_host@/turns?host=${encodeURIComponent(counter.folder)}`;
  await using rows = await inDatabase(url);
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
  const empty = await firstCalls(await database("empty"));
  const url = await database("many");
  await fillWithUsers(server.url("postgres", "many"), users);
  const full = await firstCalls(url);
  console.log(
    `first call of a new user, empty database: upsert ${empty.upsertMs.toFixed(2)} ms, read ${empty.readMs.toFixed(2)} ms`,
  );
  console.log(`of ${users} users: upsert ${full.upsertMs.toFixed(2)} ms, read ${full.readMs.toFixed(2)} ms`);
  const sizes = await sizesOf(server.url("postgres", "many"));
  for (const [table, mib] of sizes) console.log(`${table}: ${mib.toFixed(1)} MiB`);
}
