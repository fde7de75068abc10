/**
 * Three hosts make calls for the same users. Hosts are killed at random instants, and the server as well. In the end
 * every acknowledged change is there, once; so is at most one more for each kill of a host, and none in part.
 */
import { createRuntime, postgresStore } from "memcell";
import { expect, test } from "vitest";

import { prepareDatabase } from "../../support/postgres/fresh-database.ts";
import { startPostgres } from "../../support/postgres/postgres-server.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import { isInner } from "./inner-words.ts";
import { foundIn } from "./load-outcome.ts";
import { LoadedHosts } from "./loaded-hosts.ts";

const [kills, serverKills] = process.env["TEST_LONG"] === "1" ? [200, 50] : [40, 10];
const users = ["alice", "bob", "carol", "dave"];
const entries = ["one", "two", "three"];

test("kills lose nothing, and add nothing", { timeout: kills * 20_000 }, async () => {
  await using server = await startPostgres();
  await server.createDatabase("memory");
  await prepareDatabase(server, "memory");
  const url = server.url("memcell_host", "memory");
  using hosts = new LoadedHosts(server, { url, users, entries }, seededRandom(1));
  const beganMs = performance.now();
  await hosts.start();
  while (hosts.kills < kills - 3) {
    await hosts.killHost();
    if (hosts.serverKills < Math.floor((hosts.kills * serverKills) / (kills - 3))) await hosts.killServer();
  }
  await hosts.killAll();
  const seconds = Math.round((performance.now() - beganMs) / 1_000);
  const { done, failed } = hosts;
  console.log(`${hosts.kills} hosts and ${hosts.serverKills} servers killed, in ${seconds} s:`);
  console.log(`${done.length} calls acknowledged, ${failed.size} refused: ${codesOf(failed)}`);

  const admin = await server.connect("postgres", "memory");
  const { versionsOf, broken } = await foundIn(admin);
  await admin.end();
  expect(broken).toEqual([]);
  expect(done.filter((body) => versionsOf.get(body) !== 1)).toEqual([]);
  expect([...failed.keys()].filter((body) => versionsOf.has(body))).toEqual([]);
  const unheard = [...versionsOf.keys()].filter((body) => !done.includes(body));
  expect(unheard.length).toBeLessThanOrEqual(hosts.kills);
  expect(unheard.filter((body) => versionsOf.get(body) !== 1)).toEqual([]);
  expect([...new Set(failed.values())].filter((text) => !text.startsWith("STORAGE_BUSY ") || isInner(text))).toEqual(
    [],
  );

  const runtime = await createRuntime({ store: postgresStore({ url }) });
  for (const userId of users) expect(await runtime.upkeep.inspect({ userId })).toEqual([]);
  await runtime.close();
});

const codesOf = (failed: ReadonlyMap<string, string>): string =>
  [...new Set(Array.from(failed.values(), (text) => text.split(" ")[0]))].join();
