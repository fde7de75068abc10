/** What a run has read is not forgotten when its record is lost: the history says which runs the record must have. */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import { createRuntime, postgresStore, storeIdOf } from "memcell";
import type { CallContext, Runtime, ToolResult } from "memcell";
import { expect, test } from "vitest";

import { databaseOf, freshDatabase, sharedServer } from "../support/postgres/fresh-database.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedNames } from "../support/test-plugin.ts";
import { trustingPolicy } from "../support/trusting-policy.ts";
import { userFolder } from "../support/user-files.ts";
import { waitingId } from "../support/waiting-id.ts";

const owner: CallContext = { userId: "alice" };
const web: CallContext = { userId: "alice", origin: { class: "tool_external", run: "web" } };
const inRun = (run: string): CallContext => ({ userId: "alice", origin: { class: "direct_user", run } });

const save = (runtime: Runtime, name: string, ctx: CallContext): Promise<ToolResult> =>
  runtime.call("UpdateUserMemory", { action: "upsert", name, type: "user", description: "d", body: "x" }, ctx);
const read = (runtime: Runtime, ctx: CallContext): Promise<ToolResult> =>
  runtime.call("ReadUserMemory", { name: "page" }, ctx);

const recordOf = (path: string): string => join(userFolder(path, "alice"), ".memcell", "runs", "trust.json");
const waits = async (result: Promise<ToolResult>): Promise<void> => void waitingId(await result);
const problemsOf = async (runtime: Runtime): Promise<string[]> =>
  (await runtime.upkeep.inspect(owner)).map(({ problem }) => problem);

interface Stage extends AsyncDisposable {
  readonly path: string;
  readonly record: string;
  runtime: Runtime;
  nowMs: number;
}

/** A home with an entry from a web page, and runs that have read it. */
async function openStage(...readers: string[]): Promise<Stage> {
  const folder = temporaryFolder();
  {
    const plugins = shippedNames();
    const policy = trustingPolicy({ active: "untrusted_document" });
    await using lax = await createRuntime({ dataDir: folder.path, plugins, policy });
    expect(await save(lax, "page", web)).toMatchObject({ ok: true });
  }
  const stage = { path: folder.path, record: recordOf(folder.path), nowMs: Date.now() };
  const runtime = await createRuntime({ dataDir: folder.path, clock: () => stage.nowMs });
  for (const run of readers) expect(await read(runtime, inRun(run))).toMatchObject({ ok: true });
  return Object.assign(stage, {
    runtime,
    async [Symbol.asyncDispose]() {
      await runtime.close();
      folder[Symbol.dispose]();
    },
  });
}

const losses: readonly (readonly [string, (path: string) => void])[] = [
  ["removed", rmSync],
  ["emptied", (path) => truncateSync(path)],
  ["an empty list", (path) => writeFileSync(path, "[]")],
  ["cut in half", (path) => truncateSync(path, Math.floor(readFileSync(path).length / 2))],
  ["removed with its folder", (path) => rmSync(join(path, ".."), { recursive: true })],
];

test.for(losses)("a record that is %s raises nobody's trust, and the doctor tells", async ([, lose]) => {
  await using stage = await openStage("r");
  const { runtime, record } = stage;
  lose(record);
  expect(await runtime.upkeep.inspect(owner)).toMatchObject([
    { problem: "runs-unreadable", path: ".memcell/runs/trust.json", remedy: expect.any(String) as string },
  ]);
  await waits(save(runtime, "a", inRun("r")));
  // Nobody knows of another run either.
  await waits(save(runtime, "b", inRun("other")));
  expect(await save(runtime, "c", { userId: "alice", origin: { class: "direct_user" } })).toMatchObject({ ok: true });
  // The record that was begun instead is not a reason to be silent.
  expect(await problemsOf(runtime)).toEqual(["runs-lost"]);
  // Nor is it lost with less effect than the first.
  lose(record);
  await waits(save(runtime, "d", inRun("other")));
  stage.nowMs += 91 * 86_400_000;
  expect(await save(runtime, "e", inRun("other"))).toMatchObject({ ok: true });
  expect(await problemsOf(runtime)).toEqual([]);
});

test("the doctor begins a record that was lost anew, and says until when it counts", async () => {
  await using stage = await openStage("r");
  const { runtime, record } = stage;
  rmSync(record);
  expect(await runtime.upkeep.mend(owner)).toMatchObject([{ problem: "runs-unreadable" }]);
  expect(existsSync(record)).toBe(true);
  expect(await problemsOf(runtime)).toEqual(["runs-lost"]);
  await waits(save(runtime, "a", inRun("other")));
});

test.for(["versions", "journal"])("a history without its only file of %s makes no text the owner's", async (name) => {
  await using stage = await openStage();
  await stage.runtime.close();
  const own = join(stage.record, "..", "..");
  rmSync(join(own, name === "journal" ? name : "history/versions-000000000001.jsonl"));
  await using runtime = await createRuntime({ dataDir: stage.path });
  expect(await problemsOf(runtime)).toEqual(["history-broken"]);
  expect(await read(runtime, inRun("new"))).toMatchObject({ ok: true });
  await waits(save(runtime, "a", inRun("new")));
});

test.for(["a user", "a store"])(
  "the doctor says that it begins a history of %s anew, and does it at once",
  async (whose) => {
    await using stage = await openStage();
    await stage.runtime.stores(owner).grant("bob", { level: "read" });
    await stage.runtime.close();
    const home = whose === "a user" ? userFolder(stage.path, "alice") : join(stage.path, "stores", storeIdOf("alice"));
    rmSync(join(home, ".memcell", "history"), { recursive: true });
    await using runtime = await createRuntime({ dataDir: stage.path, retiresLeftOver: false, plugins: shippedNames() });
    const [found] = await runtime.upkeep.inspect(owner);
    expect(found).toMatchObject({ problem: "history-broken", remedy: expect.any(String) as string });
    expect(await runtime.upkeep.mend(owner)).toEqual([found]);
    expect(await problemsOf(runtime)).toEqual(whose === "a user" ? ["runs-lost"] : []);
  },
);

test("an older record says of a later run what the history says, and of no other run anything else", async () => {
  await using stage = await openStage("first");
  const { runtime, record } = stage;
  copyFileSync(record, `${stage.path}/older.json`);
  await read(runtime, inRun("second"));
  copyFileSync(`${stage.path}/older.json`, record);
  expect(await problemsOf(runtime)).toEqual(["runs-unreadable"]);
  await waits(save(runtime, "a", inRun("second")));
  await waits(save(runtime, "b", inRun("first")));
  expect(await save(runtime, "c", inRun("third"))).toMatchObject({ ok: true });
  expect(await problemsOf(runtime)).toEqual([]);
});

test("a user without runs, and a new user, are not taken for damaged", async () => {
  await using stage = await openStage();
  const { runtime } = stage;
  expect(existsSync(stage.record)).toBe(false);
  expect(await save(runtime, "a", inRun("r"))).toMatchObject({ ok: true });
  expect(await problemsOf(runtime)).toEqual([]);
  const bob: CallContext = { userId: "bob", origin: { class: "direct_user", run: "r" } };
  expect(await save(runtime, "a", bob)).toMatchObject({ ok: true });
  expect(await runtime.upkeep.inspect({ userId: "bob" })).toEqual([]);
});

test("a record from before the history had runs counts, and is in the history when a run of it is named", async () => {
  using folder = temporaryFolder();
  await using runtime = await createRuntime({ dataDir: folder.path });
  await save(runtime, "a", owner);
  const record = recordOf(folder.path);
  mkdirSync(join(record, ".."));
  writeFileSync(record, JSON.stringify([{ run: "old", trust: "tool_external", atMs: Date.now() }]));
  expect(await problemsOf(runtime)).toEqual([]);
  await waits(save(runtime, "b", inRun("old")));
  expect(await save(runtime, "c", inRun("other"))).toMatchObject({ ok: true });
  rmSync(record);
  expect(await problemsOf(runtime)).toEqual(["runs-unreadable"]);
  await waits(save(runtime, "d", inRun("old")));
});

test("in a database, such a record is in the history as well", async () => {
  const url = await freshDatabase();
  await using runtime = await createRuntime({ store: postgresStore({ url }) });
  await save(runtime, "a", owner);
  const admin = await (await sharedServer()).connect("postgres", databaseOf(url));
  try {
    const old = JSON.stringify([{ run: "old", trust: "tool_external", atMs: Date.now() }]);
    const tenant = storeIdOf("alice");
    await admin.query("INSERT INTO memcell.records VALUES ($1, 'runs', 'trust', $2)", [tenant, old]);
    await waits(save(runtime, "b", inRun("old")));
    await admin.query("DELETE FROM memcell.records WHERE tenant = $1 AND record_kind = 'runs'", [tenant]);
  } finally {
    await admin.end();
  }
  expect(await problemsOf(runtime)).toEqual(["runs-unreadable"]);
  await waits(save(runtime, "c", inRun("old")));
});

test("a run that reads the same again adds no version, and none of the versions is one of a file", async () => {
  await using stage = await openStage("r");
  const { runtime } = stage;
  const before = await runtime.upkeep.history(owner);
  for (let round = 0; round < 5; round++) await read(runtime, inRun("r"));
  await read(runtime, inRun("other"));
  expect(await runtime.upkeep.history(owner)).toEqual(before);
  expect(await problemsOf(runtime)).toEqual([]);
  // A run that has only read has nothing to take back.
  await expect(runtime.upkeep.planUndo(owner, { run: "r" })).rejects.toMatchObject({ code: "ENTRY_NOT_FOUND" });
  await runtime.close();
  const history = join(stage.record, "..", "..", "history");
  const segments = readdirSync(history).filter((name) => name.startsWith("versions-"));
  const lines = segments.flatMap((name) => readFileSync(join(history, name), "utf8").trimEnd().split("\n"));
  const lowered = lines
    .map((line) => JSON.parse(line) as { kind?: string; run: string })
    .filter(({ kind }) => kind === "lowered");
  expect(lowered.map(({ run }) => run)).toEqual(["r", "other"]);
});
