/** Everything goes from a data folder into a database and back, or the other way, and is as it was. */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

import { createRuntime, fileStore, postgresStore, storeIdOf } from "memcell";
import { afterEach, beforeEach, expect, test } from "vitest";

import { fillAll } from "../owner/four-families.ts";
import { openFiles, openStore } from "../stage/open-store.ts";
import { unstatedFacts } from "../stage/store.ts";
import type { UserId } from "../stage/store.ts";
import { FileStage } from "../store/file-stage.ts";
import { remove, soon, write } from "../store/store-stage.ts";
import { freshDatabase } from "../support/postgres/fresh-database.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedNames } from "../support/test-plugin.ts";
import { userFolder } from "../support/user-files.ts";
import { fillFolder, users, waiting } from "./filled-folder.ts";
import { copy, stateOf, treeOf } from "./stored-state.ts";

let folder = temporaryFolder();
let [data, back, url] = ["", "", ""];
beforeEach(async () => {
  folder = temporaryFolder();
  [data, back, url] = [join(folder.path, "data"), join(folder.path, "back"), await freshDatabase()];
});
afterEach(() => folder[Symbol.dispose]());

const alice = "alice" as UserId;
const done = {
  status: 0,
  stdout: expect.stringMatching(/^\d+ homes? copied, \d+ bytes; 0 already there; 0 listed\n$/),
};

test("a folder goes into a database and back, byte for byte; a second run finds nothing to do", async () => {
  await fillFolder(data);
  const before = treeOf(data);
  expect(await copy(data, url)).toEqual(done);
  expect(treeOf(data)).toEqual(before);
  const again = expect.stringMatching(/^0 homes copied, 0 bytes; \d+ already there; 0 listed\n$/);
  expect(await copy(data, url)).toEqual({ status: 0, stdout: again });
  const state = await stateOf(fileStore({ dir: data }));
  expect(Object.keys(state)).toEqual(expect.arrayContaining([...users, "by.hand", waiting]));
  expect(await stateOf(postgresStore({ url }))).toEqual(state);
  expect(await copy(url, back)).toEqual(done);
  expect(treeOf(back)).toEqual(before);
  expect(await stateOf(fileStore({ dir: back }))).toEqual(state);
  expect(await findingsIn(back)).toEqual(await findingsIn(data));
});

async function findingsIn(dataDir: string): Promise<unknown> {
  await using runtime = await createRuntime({ dataDir, plugins: shippedNames(), threadsMax: 1 });
  const { upkeep } = runtime;
  const ofUsers = (await upkeep.users()).toSorted().map(async (userId) => [userId, await upkeep.inspect({ userId })]);
  return [await upkeep.strays(), await Promise.all(ofUsers)];
}

test("what was begun in a database goes into a folder and into another database", async () => {
  {
    const store = postgresStore({ url });
    await using runtime = await createRuntime({ store, plugins: shippedNames(), threadsMax: 1 });
    for (const userId of ["alice", "bob"]) await fillAll(runtime, userId);
    await runtime.stores({ userId: "alice" }).grant("bob");
    await runtime.stores({ userId: "bob" }).leave(storeIdOf("alice"));
    // A store that has nothing but grants.
    for (const grantee of ["alice", "bob"]) await runtime.stores({ userId: "carl" }).grant(grantee, { level: "read" });
    const entry = { action: "upsert", name: "menu", type: "user", description: "d", body: "Soup" };
    const origin = { class: "tool_external", run: "r", source: "https://example.com/" } as const;
    const answer = await runtime.call("UpdateUserMemory", entry, { userId: "waiting", origin });
    expect(answer).toMatchObject({ ok: false, error: { code: "WRITE_PENDING" } });
  }
  const state = await stateOf(postgresStore({ url }));
  expect(state).toHaveProperty("records of waiting");
  expect(state).toHaveProperty(storeIdOf("carl"));
  const other = await freshDatabase();
  expect(await copy(url, data)).toEqual(done);
  expect(await stateOf(fileStore({ dir: data }))).toEqual(state);
  expect(await copy(data, other)).toEqual(done);
  expect(await stateOf(postgresStore({ url: other }))).toEqual(state);
});

test("a history of several segments has all of its versions and contents", async () => {
  for (let opening = 0; opening < 3; opening++) {
    const store = openFiles(data);
    for (let at = 0; at < 4; at++) {
      const content = randomBytes(300_000).toString("base64");
      await store.holdUser(alice, { writes: true, until: performance.now() + 30_000 }, (held) =>
        held.commit([{ kind: "write", scope: "memory", path: `entry-${at}.md`, content }], []),
      );
    }
    await store.close();
  }
  const journal = join(userFolder(data, alice), ".memcell", "journal");
  expect(readdirSync(journal).filter((name) => name.endsWith(".contents.gz")).length).toBeGreaterThan(1);
  expect(await copy(data, url)).toEqual(done);
  expect(await copy(url, back)).toEqual(done);
  const state = await stateOf(fileStore({ dir: data }));
  expect(state).toMatchObject({ alice: { history: { isBroken: false, versions: { length: 12 } } } });
  expect(await stateOf(postgresStore({ url }))).toEqual(state);
  expect(await stateOf(fileStore({ dir: back }))).toEqual(state);
});

test("into another folder, also what is known of a file that somebody has moved by hand", async () => {
  {
    await using runtime = await createRuntime({ dataDir: data, plugins: shippedNames(), threadsMax: 1 });
    const entry = { action: "upsert", name: "menu", type: "user", description: "d", body: "Soup" };
    const origin = { class: "direct_user", run: "r" } as const;
    expect(await runtime.call("UpdateUserMemory", entry, { userId: "alice", origin })).toMatchObject({ ok: true });
  }
  const memory = join(userFolder(data, alice), "memory");
  renameSync(join(memory, "menu.md"), join(memory, "moved.md"));
  const state = await stateOf(fileStore({ dir: data }));
  expect(JSON.stringify(state)).toContain("memory:menu.md");
  expect(await copy(data, back)).toEqual(done);
  expect(treeOf(back)).toEqual(treeOf(data));
  expect(await stateOf(fileStore({ dir: back }))).toEqual(state);
});

test("what somebody has moved by hand is trusted in a database as in the folder", async () => {
  {
    await using stage = new FileStage({ path: data, [Symbol.dispose]: () => {} });
    await stage.commit([write("menu.md", "---\nname: menu\n---\nSoup")], "tool_external");
  }
  const memory = join(userFolder(data, alice), "memory");
  renameSync(join(memory, "menu.md"), join(memory, "moved.md"));
  expect(await copy(data, url)).toEqual(done);
  for (const store of [fileStore({ dir: data }), postgresStore({ url })]) {
    await using runtime = await createRuntime({ store, plugins: shippedNames(), threadsMax: 1 });
    expect((await runtime.upkeep.entry({ userId: alice }, "moved")).file.trust).toBe("tool_external");
  }
});

const journalOf = (stage: FileStage): string =>
  readdirSync(stage.journal)
    .map((name) => readFileSync(join(stage.journal, name)))
    .map((bytes) => (bytes[0] === 0x1f ? gunzipSync(bytes) : bytes).toString())
    .join("");

test("what somebody has moved into the trash by hand is purged as well after two copies", async () => {
  {
    await using stage = new FileStage({ path: data, [Symbol.dispose]: () => {} });
    for (const text of ["first secret", "second secret"]) await stage.commit([write("a.md", text)]);
  }
  const memory = join(userFolder(data, alice), "memory");
  mkdirSync(join(memory, "trash"));
  renameSync(join(memory, "a.md"), join(memory, "trash/a.1.md"));
  expect(await copy(data, url)).toEqual(done);
  expect(await copy(url, back)).toEqual(done);
  await using stage = new FileStage({ path: back, [Symbol.dispose]: () => {} });
  expect(journalOf(stage)).toContain("secret");
  await stage.commit([remove("trash/a.1.md")], "owner_edit");
  expect(journalOf(stage)).not.toContain("secret");
});

test("at its next version, what was moved by hand is trusted as little as any version with its content", async () => {
  {
    await using stage = new FileStage({ path: data, [Symbol.dispose]: () => {} });
    await stage.commit([write("web.md", "of the web")], "tool_external");
    await stage.commit([write("web.md", "other")], "tool_external");
    await stage.commit([write("b.md", "of the web")], "direct_user");
  }
  const memory = join(userFolder(data, alice), "memory");
  renameSync(join(memory, "b.md"), join(memory, "c.md"));
  expect(await copy(data, url)).toEqual(done);
  const facts = { ...unstatedFacts(Date.now()), class: "direct_user", trust: "direct_user" } as const;
  for (const definition of [fileStore({ dir: data }), postgresStore({ url })]) {
    const store = openStore(definition);
    const trust = await store.holdUser(alice, soon(), async (held) => {
      await held.commit([write("c.md", "of the web, and more")], held.reader.seen, { facts });
      return (await held.history.originOf("memory", "c.md"))?.trust;
    });
    expect(trust).toBe("tool_external");
    await store.close();
  }
});

const formats = join(import.meta.dirname, "..", "store", "formats");

test.for(readdirSync(formats))("out of %s of an earlier version", async (archive) => {
  execFileSync("tar", ["-xzf", join(formats, archive), "-C", folder.path]);
  expect(await copy(data, url)).toEqual(done);
  expect(await copy(data, back)).toEqual(done);
  const state = await stateOf(fileStore({ dir: data }));
  expect(await stateOf(fileStore({ dir: back }))).toEqual(state);
  expect(await stateOf(postgresStore({ url }))).toEqual(state);
});
