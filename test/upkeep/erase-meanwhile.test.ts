/** Calls that come while a user is erased: of the user, and of others who share the user's store. */
import type { Runtime } from "memcell";
import { expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";
import { openAll, ownStore } from "./four-families.ts";

const alice = { userId: "alice" };
const bob = { userId: "bob" };

test("calls of the user that come meanwhile find nothing or begin anew, and no file comes back", async () => {
  using folder = temporaryFolder();
  await using runtime = await openAll(folder.path, { threadsMax: 2 });
  await using other = await openAll(folder.path);
  for (let round = 0; round < 5; round++) {
    for (let at = 0; at < 20; at++) await write(runtime, `old-${at}`);
    const acknowledged: string[] = [];
    let isErased = false;
    const calls = [runtime, other].map(async (each, number) => {
      for (let at = 0; at < 12; at++) {
        const name = `new-${number}-${at}`;
        const wasErased = isErased;
        if ((await write(each, name)) && wasErased) acknowledged.push(name);
      }
    });
    await runtime.upkeep.erase(alice);
    isErased = true;
    await Promise.all(calls);
    const entries = (await runtime.memoryEntries(alice)).map(({ name }) => name);
    expect(entries.filter((name) => name.startsWith("old-"))).toEqual([]);
    expect(entries).toEqual(expect.arrayContaining(acknowledged));
    expect(await runtime.upkeep.inspect(alice)).toEqual([]);
    expect(await runtime.upkeep.strays()).toEqual([]);
  }
});

async function write(runtime: Runtime, name: string): Promise<boolean> {
  const entry = { action: "upsert", name, type: "user", description: "d", body: name };
  const result = await runtime.call("UpdateUserMemory", entry, alice);
  expect(result).toMatchObject({ ok: true });
  return result.ok;
}

test("others who search a shared store while its owner is erased see all of it, or nothing", async () => {
  using folder = temporaryFolder();
  await using runtime = await openAll(folder.path, { threadsMax: 2 });
  await using other = await openAll(folder.path);
  for (let round = 0; round < 4; round++) {
    for (let at = 0; at < 30; at++) {
      const create = { command: "create", path: `/memories/n${at}.md`, content: `zebra ${at}` };
      expect(await runtime.callAsHost("memory", create, alice)).toMatchObject({ ok: true });
    }
    await runtime.stores(alice).grant("bob");
    const path = `/memories/shared/${ownStore("alice")}/`;
    const counts = new Set<number | string>();
    const over = new AbortController();
    const reading = (async () => {
      while (!over.signal.aborted) {
        const listed = await other.callAsHost("memory", { command: "view", path }, bob);
        counts.add(listed.ok ? (listed.data as { entries: unknown[] }).entries.length : listed.error.code);
      }
    })();
    await runtime.upkeep.erase(alice);
    over.abort();
    await reading;
    expect(await other.callAsHost("memory", { command: "view", path }, bob)).toMatchObject({
      error: { code: "ACCESS_DENIED" },
    });
    expect(Array.from(counts).filter((count) => ![30, "ACCESS_DENIED"].includes(count))).toEqual([]);
  }
});
