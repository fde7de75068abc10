/** Histories that are long, broken, or were begun in a database stay as they are. */
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

import { createRuntime, fileStore, postgresStore } from "memcell";
import { afterEach, beforeEach, expect, test } from "vitest";

import { ownStoreOf } from "../stage/store.ts";
import type { UserId } from "../stage/store.ts";
import { freshDatabase } from "../support/postgres/fresh-database.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedNames } from "../support/test-plugin.ts";
import { userFolder } from "../support/user-files.ts";
import { fillAll } from "../upkeep/four-families.ts";
import { copy } from "./memcell-copy.ts";
import { stateOf } from "./stored-state.ts";

let folder = temporaryFolder();
let [data, back, url] = ["", "", ""];
beforeEach(async () => {
  folder = temporaryFolder();
  [data, back, url] = [join(folder.path, "data"), join(folder.path, "back"), await freshDatabase()];
});
afterEach(() => folder[Symbol.dispose]());

const alice = "alice" as UserId;
const done = { status: 0, stdout: expect.stringMatching(/; 0 already there; 0 listed\n$/) };

test("what was begun in a database goes into a folder and into another database", async () => {
  {
    const store = postgresStore({ url });
    await using runtime = await createRuntime({ store, plugins: shippedNames(), threadsMax: 1 });
    for (const userId of ["alice", "bob"]) await fillAll(runtime, userId);
    await runtime.stores({ userId: "alice" }).grant("bob");
    await runtime.stores({ userId: "bob" }).leave(ownStoreOf(alice));
    const entry = { action: "upsert", name: "menu", type: "user", description: "d", body: "Soup" };
    const origin = { class: "tool_external", run: "r", source: "https://example.com/" } as const;
    const answer = await runtime.call("UpdateUserMemory", entry, { userId: "waiting", origin });
    expect(answer).toMatchObject({ ok: false, error: { code: "WRITE_PENDING" } });
  }
  const state = await stateOf(postgresStore({ url }));
  expect(state).toHaveProperty("records of waiting");
  const other = await freshDatabase();
  expect(copy(url, data)).toEqual(done);
  expect(await stateOf(fileStore({ dir: data }))).toEqual(state);
  expect(copy(data, other)).toEqual(done);
  expect(await stateOf(postgresStore({ url: other }))).toEqual(state);
});

test("a history of several segments has all of its versions and contents", async () => {
  const store = fileStore({ dir: data, durability: "relaxed" }).open(() => {});
  const lines: string[] = [];
  for (let at = 0; at < 700; at++) {
    lines.push(`- [entry-${at}](entry-${at}.md)`);
    await store.hold(alice, { writes: true, until: performance.now() + 30_000 }, (held) =>
      held.commit(
        [
          { kind: "write", scope: "memory", path: `entry-${at}.md`, content: `${at} `.repeat(800) },
          { kind: "write", scope: "memory", path: "MEMORY.md", content: lines.join("\n") },
        ],
        [],
      ),
    );
  }
  await store.close();
  const history = join(userFolder(data, alice), ".memcell", "history");
  expect(readdirSync(history).filter((name) => name.startsWith("contents-")).length).toBeGreaterThan(1);
  expect(copy(data, url)).toEqual(done);
  expect(copy(url, back)).toEqual(done);
  const state = await stateOf(fileStore({ dir: data }));
  expect(await stateOf(postgresStore({ url }))).toEqual(state);
  expect(await stateOf(fileStore({ dir: back }))).toEqual(state);
  await using runtime = await createRuntime({ dataDir: back, threadsMax: 1 });
  const findings = await runtime.upkeep.inspect({ userId: alice });
  expect(findings.filter(({ problem }) => problem === "history-broken")).toEqual([]);
});

test("files of which a broken history says nothing have no trust anywhere", async () => {
  {
    await using runtime = await createRuntime({ dataDir: data, plugins: shippedNames(), threadsMax: 1 });
    await fillAll(runtime, alice);
  }
  const own = join(userFolder(data, alice), ".memcell");
  rmSync(join(own, "history"), { recursive: true });
  expect(copy(data, url)).toEqual(done);
  expect(copy(url, back)).toEqual(done);
  const state = await stateOf(fileStore({ dir: data }));
  expect(state).toMatchObject({
    alice: { history: { isBroken: true }, files: { "memory/kept.md": { trust: "untrusted_document" } } },
  });
  expect(await stateOf(postgresStore({ url }))).toEqual(state);
  expect(await stateOf(fileStore({ dir: back }))).toEqual(state);
});
