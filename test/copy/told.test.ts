/** What a copy tells: edits meanwhile, other homes at the target, and what cannot be copied. */
import { execFileSync, spawnSync } from "node:child_process";
import { appendFileSync, cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { createRuntime, fileStore, postgresStore, storeIdOf } from "memcell";
import type { RuntimeOptions } from "memcell";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";

import { copyStores } from "../../host/copy/copy-stores.ts";
import type { CopyReport } from "../../host/copy/copy-stores.ts";
import type { StoreDefinition } from "../../host/store/definition.ts";
import { openStore, fileStore as stagedFiles, postgresStore as stagedDatabase } from "../stage/open-store.ts";
import { ownStoreOf, storeHome, userHome } from "../stage/store.ts";
import type { UserId } from "../stage/store.ts";
import { administratorOf, asAdministrator, freshDatabase } from "../support/postgres/fresh-database.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { userFolder } from "../support/user-files.ts";
import { copy, treeOf } from "./stored-state.ts";

const program = fileURLToPath(new URL("../../dist/host/cli/main.js", import.meta.url));

const made = temporaryFolder();
beforeAll(async () => {
  for (const userId of ["alice", "bob"]) await remember({ dataDir: made.path }, userId, "menu", "Bread");
});
afterAll(() => made[Symbol.dispose]());

let folder = temporaryFolder();
let [data, url] = ["", ""];
beforeEach(async () => {
  folder = temporaryFolder();
  data = join(folder.path, "data");
  cpSync(made.path, data, { recursive: true, preserveTimestamps: true });
  url = await freshDatabase();
});
afterEach(() => folder[Symbol.dispose]());

async function remember(place: RuntimeOptions, userId: string, name: string, body: string): Promise<void> {
  await using runtime = await createRuntime({ ...place, threadsMax: 1 });
  const entry = { action: "upsert", name, type: "user", description: "d", body };
  expect(await runtime.call("UpdateUserMemory", entry, { userId })).toMatchObject({ ok: true });
}

async function copyWith(
  source: StoreDefinition,
  target: StoreDefinition,
  onProgress: (state: string) => void,
): Promise<CopyReport> {
  const [from, to] = [source.open(() => {}), target.open(() => {})];
  const report = await copyStores({ from, to, waitMs: 30_000, onProgress });
  await Promise.all([from.close(), to.close()]);
  return report;
}

test("a history that somebody has changed gives no trust at the target", async () => {
  expect(await copy(data, url)).toMatchObject({ status: 0 });
  await asAdministrator(url, "UPDATE memcell.changes SET lines[1] = replace(lines[1], 'UpdateUserMemory', 'Other')");
  const [database, dir] = [await freshDatabase(), join(folder.path, "back")];
  for (const target of [database, dir]) {
    expect(await copy(url, target)).toMatchObject({ status: 0 });
    const store = openStore(target === dir ? fileStore({ dir }) : postgresStore({ url: database }));
    const options = { writes: false, until: performance.now() + 10_000 };
    expect(await store.holdUser("alice" as UserId, options, async ({ history }) => history.state().isBroken)).toBe(
      true,
    );
    await store.close();
  }
});

test.for(["a folder", "a database"])(
  "nothing is copied out of %s in which an erasure is not finished",
  async (kind) => {
    expect(await copy(data, url)).toMatchObject({ status: 0 });
    const [from, store] = kind === "a folder" ? [data, fileStore({ dir: data })] : [url, postgresStore({ url })];
    const opened = openStore(store);
    await opened.holdToErase("bob" as UserId, { to: "remove", until: performance.now() + 10_000 }, (held) =>
      held.erase(1),
    );
    await opened.close();
    const target = join(folder.path, "other");
    const refused = "Cannot copy: in --from, an erasure is not finished, any host that starts there finishes it";
    expect(await copy(from, target)).toMatchObject({ status: 1, stdout: expect.stringContaining(refused) });
    expect(existsSync(join(target, "users"))).toBe(false);
  },
);

test("what is edited by hand after it was copied is told, and what is new", async () => {
  const menu = join(userFolder(data, "alice"), "memory", "menu.md");
  let hasEdited = false;
  const { copied, told } = await copyWith(stagedFiles({ dir: data }), stagedDatabase({ url }), (state) => {
    if (hasEdited || !state.endsWith("compared")) return;
    hasEdited = true;
    appendFileSync(menu, "and wine\n");
    mkdirSync(join(userFolder(data, "carol"), "memory"), { recursive: true });
    writeFileSync(join(userFolder(data, "carol"), "memory", "a.md"), "new");
  });
  expect(copied).toBe(2);
  expect(told).toEqual([
    { home: "alice", told: "edited meanwhile" },
    { home: "carol", told: "made meanwhile, not copied" },
  ]);
});

test("what a call changes in a database after it was copied is told", async () => {
  expect(await copy(data, url)).toMatchObject({ status: 0 });
  let hasCalled = false;
  const target = stagedFiles({ dir: join(folder.path, "back") });
  const report = await copyWith(stagedDatabase({ url }), target, (state) => {
    if (hasCalled || !state.endsWith("compared")) return;
    hasCalled = true;
    const input = JSON.stringify({ action: "upsert", name: "menu", type: "user", description: "d", body: "Cake" });
    const args = ["call", "UpdateUserMemory", "--user", "bob", "--input", input, "--store", url];
    execFileSync(process.execPath, [program, ...args]);
  });
  expect(report).toMatchObject({ copied: 2, told: [{ home: "bob", told: "edited meanwhile" }] });
});

test("a home that is at the target and different is not overwritten", async () => {
  await remember({ store: postgresStore({ url }) }, "alice", "menu", "Soup");
  expect(await copy(data, url)).toEqual({
    status: 1,
    stdout: expect.stringMatching(
      /^alice: not copied: the target has another one\n1 home copied, \d+ bytes; 0 already there; 1 listed\n$/,
    ),
  });
  await using runtime = await createRuntime({ store: postgresStore({ url }), threadsMax: 1 });
  const read = (userId: string): Promise<unknown> => runtime.call("ReadUserMemory", { name: "menu" }, { userId });
  expect(await read("alice")).toMatchObject({ data: { body: "Soup" } });
  expect(await read("bob")).toMatchObject({ data: { body: "Bread" } });
});

test("a folder at the target is not overwritten either, whatever is in it", async () => {
  expect(await copy(data, url)).toMatchObject({ status: 0 });
  const back = join(folder.path, "back");
  await remember({ dataDir: back }, "alice", "menu", "Soup");
  mkdirSync(join(userFolder(back, "bob"), "memory"), { recursive: true });
  const before = treeOf(back);
  expect(await copy(url, back)).toMatchObject({
    status: 1,
    stdout: expect.stringMatching(/^alice: .*\nbob: .*\n0 homes copied/),
  });
  expect(treeOf(back)).toEqual(before);
});

test("what no tool can read is told, and the rest is copied", async () => {
  const memory = join(userFolder(data, "alice"), "memory");
  writeFileSync(join(memory, "a name: with a colon.md"), "x");
  writeFileSync(join(memory, "large.md"), Buffer.alloc(2 * 1024 * 1024 + 1, "x"));
  mkdirSync(join(data, "users", "no%user"));
  mkdirSync(join(memory, "../.memcell/runs"), { recursive: true });
  writeFileSync(join(memory, "../.memcell/runs/odd.json"), '{"a":"\0"}');
  const { status, stdout } = await copy(data, url);
  expect(status).toBe(1);
  expect(stdout.split("\n").filter((line) => line.includes("left out"))).toEqual([
    expect.stringContaining("users/no%user: left out: "),
    expect.stringContaining("alice: left out: memory/a name: with a colon.md: "),
    expect.stringContaining("alice: left out: memory/large.md: it is 2097153 bytes"),
    expect.stringContaining("alice: left out: runs/odd.json: it is no text"),
  ]);
  expect(stdout).toContain("2 homes copied");
});

test("as long as a store in a folder is copied, nobody writes to it", async () => {
  {
    await using runtime = await createRuntime({ dataDir: data, threadsMax: 1 });
    await runtime.stores({ userId: "alice" }).grant("bob", { level: "read" });
  }
  const home = storeHome(ownStoreOf("alice" as UserId));
  const [copying, other] = [stagedFiles({ dir: data }).open(() => {}), stagedFiles({ dir: data }).open(() => {})];
  let runs = 0;
  await copying.hold([home], "read", { until: performance.now() + 10_000 }, async (held) => {
    runs++;
    const writes = other.hold([home], "write", { until: performance.now() + 20 }, async () => {});
    await expect(writes).rejects.toMatchObject({ code: "BUSY" });
    const dump = await held.of(home).dump?.();
    expect(dump).toMatchObject({ creator: "alice" });
    for await (const piece of dump?.pieces ?? []) expect(piece).toMatchObject({ kind: "file", scope: "grants" });
  });
  expect(runs).toBe(1);
  await Promise.all([copying.close(), other.close()]);
});

test("a file that somebody edits while its home is copied is refused", async () => {
  const engine = stagedFiles({ dir: data }).open(() => {});
  const home = userHome("alice" as UserId);
  const pieces = async (): Promise<void> => {
    await engine.hold([home], "read", { until: performance.now() + 10_000 }, async (held) => {
      const dump = await held.of(home).dump?.();
      for await (const piece of dump?.pieces ?? []) {
        if (piece.kind !== "file") continue;
        for (const name of readdirSync(join(userFolder(data, "alice"), "memory")))
          appendFileSync(join(userFolder(data, "alice"), "memory", name), "and wine\n");
      }
    });
  };
  await expect(pieces()).rejects.toMatchObject({ code: "BUSY" });
  await engine.close();
});

test("a home with a content that somebody has changed in the database is not copied", async () => {
  expect(await copy(data, url)).toMatchObject({ status: 0 });
  await asAdministrator(
    url,
    "UPDATE memcell.contents SET content = 'other' WHERE tenant = (SELECT tenant FROM memcell.homes WHERE user_id = 'bob')",
  );
  const { status, stdout } = await copy(url, join(folder.path, "back"));
  expect({ status, told: stdout.split("\n").slice(0, -2) }).toEqual({
    status: 1,
    told: ["bob: not copied: Cannot copy: a content is missing"],
  });
});

test("who leaves out a store and has one that cannot be used is told, and everything else is copied", async () => {
  const told: string[] = [];
  {
    await using runtime = await createRuntime({ dataDir: data, threadsMax: 1 });
    for (const userId of ["bob", "carol"]) {
      await runtime.stores({ userId: "alice" }).grant(userId, { level: "read" });
      await runtime.stores({ userId }).grant("alice", { level: "read" });
      await runtime.stores({ userId }).leave(storeIdOf("alice"));
    }
  }
  const own = `stores/${storeIdOf("bob")}`;
  writeFileSync(join(data, own, ".memcell", "owner"), "somebody");
  const { status, stdout } = await copy(data, url);
  told.push(...stdout.split("\n").filter((line) => line.startsWith(own)));
  expect({ status, told }).toEqual({
    status: 1,
    told: [
      expect.stringMatching(/: not copied: Cannot open the store.s folder: it belongs to another id$/),
      expect.stringMatching(/: what it leaves out is not copied: Cannot open the store.s folder: it belongs/),
    ],
  });
  await using runtime = await createRuntime({ store: postgresStore({ url }), threadsMax: 1 });
  expect(await runtime.stores({ userId: "carol" }).list()).toEqual([
    expect.objectContaining({ id: storeIdOf("carol") }),
  ]);
});

test("a home of a killed process whose lock files somebody has removed is finished and copied", async () => {
  const script = `
    const { createRuntime } = await import("memcell");
    const runtime = await createRuntime({ dataDir: ${JSON.stringify(data)}, threadsMax: 1 });
    const entry = { action: "upsert", name: "menu", type: "user", description: "d", body: "Cake" };
    await runtime.call("UpdateUserMemory", entry, { userId: "alice" });
    process.kill(process.pid, "SIGKILL");`;
  expect(spawnSync(process.execPath, ["--input-type=module", "--eval", script]).signal).toBe("SIGKILL");
  for (const name of ["lock", "turnstile"]) rmSync(join(userFolder(data, "alice"), ".memcell", name));
  expect(await copy(data, url)).toMatchObject({ status: 0, stdout: expect.stringMatching(/^2 homes copied/) });
});

test("a user's own file that looks like a store's grants grants nothing", async () => {
  const scope = join(userFolder(data, "alice"), "grants");
  mkdirSync(scope);
  const grant = { grantee: storeIdOf("bob"), level: "read", grantedMs: 1, expiresMs: null };
  writeFileSync(join(scope, "grants.json"), JSON.stringify({ version: 1, grants: [grant] }));
  expect(await copy(data, url)).toMatchObject({ status: 0 });
  const admin = await administratorOf(url);
  expect((await admin.query("SELECT FROM memcell.grants")).rows).toEqual([]);
  await admin.end();
});

test.for([
  { args: ["nowhere", "URL"], said: "there is no such data folder" },
  { args: ["postgres://me:secret@host/db", "data"], said: "without a password" },
  { args: ["data", "data"], said: "the same place" },
])("copy $args is refused", async ({ args: [from = "", to = ""], said }) => {
  rmSync(join(folder.path, "nowhere"), { force: true });
  const { status, stdout } = await copy(from, to === "URL" ? url : to);
  expect(status).toBeGreaterThan(0);
  expect(stdout).toContain(said);
  expect(stdout).not.toContain("secret");
});
