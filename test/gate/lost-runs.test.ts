/** What a run has read is not forgotten when its record is lost: the history says which runs the record must have. */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import { createRuntime, fileStore, storeIdOf } from "memcell";
import type { CallContext, Runtime, RuntimeOptions } from "memcell";
import { afterAll, beforeAll, expect, test } from "vitest";

import { diskOr, fillUp } from "../crash/small-disk-store.ts";
import { lastSegment } from "../stage/journal.ts";
import { dayMs, inRun, openGateStage, owner, problemsOf, read, save, trusting, waits, web } from "./gate-stage.ts";
import type { GateStage } from "./gate-stage.ts";

let stage: GateStage;
let runtime: Runtime;
let nowMs = Date.now();
beforeAll(async () => {
  stage = await openGateStage("files");
  runtime = await stage.open({ clock: () => nowMs });
});
afterAll(() => stage[Symbol.asyncDispose]());

let users = 0;
/** A user with an entry from a web page, and runs that have read it. Returns how one of the user's runs calls. */
async function newUser(...readers: readonly string[]) {
  const userId = `user-${(users += 1)}`;
  await stage.poison(userId);
  const ctx = (run: string): CallContext => inRun(userId, run);
  for (const run of readers) expect(await read(runtime, "page", ctx(run))).toMatchObject({ ok: true });
  return { userId, ctx, record: stage.own(userId, "runs", "trust.json") };
}

test.for<readonly [string, (path: string) => void]>([
  ["removed", rmSync],
  ["emptied", (path) => truncateSync(path)],
  ["cut in half", (path) => truncateSync(path, Math.floor(readFileSync(path).length / 2))],
])("a record that is %s raises nobody's trust, and the doctor tells", async ([, lose]) => {
  const { userId, ctx, record } = await newUser("r");
  lose(record);
  expect(await runtime.upkeep.inspect(owner(userId))).toMatchObject([
    { problem: "runs-unreadable", path: ".memcell/runs/trust.json", remedy: expect.any(String) as string },
  ]);
  await waits(save(runtime, "a", ctx("r")));
  // Nobody knows of another run either.
  await waits(save(runtime, "b", ctx("other")));
  expect(await save(runtime, "c", { userId, origin: { class: "direct_user" } })).toMatchObject({ ok: true });
  // The record that was begun instead is not a reason to be silent.
  expect(await problemsOf(runtime, userId)).toEqual(["runs-lost"]);
  // Nor is it lost with less effect than the first.
  lose(record);
  await waits(save(runtime, "d", ctx("other")));
  nowMs += 91 * dayMs;
  expect(await save(runtime, "e", ctx("other"))).toMatchObject({ ok: true });
  expect(await problemsOf(runtime, userId)).toEqual([]);
});

const elsewhere = (path: string): string => join(path, "../../../elsewhere");

test.for<readonly [what: string, put: (path: string) => void, isReplaced: boolean]>([
  ["a folder", (path) => mkdirSync(path), false],
  ["a link", (path) => symlinkSync(elsewhere(path), path), true],
  ["more than a record has", (path) => (writeFileSync(path, ""), truncateSync(path, 17 * 1024 * 1024)), true],
  [
    "nothing, because a file is in its folder's place",
    (path) => {
      rmSync(join(path, ".."), { recursive: true });
      writeFileSync(join(path, ".."), "");
    },
    false,
  ],
])("where %s is in a record's place, its runs wait, and nothing else is kept", async ([, put, isReplaced]) => {
  const { userId, ctx, record } = await newUser("r");
  rmSync(record);
  put(record);
  await waits(save(runtime, "a", ctx("r")));
  await waits(save(runtime, "b", ctx("other")));
  expect(await read(runtime, "page", ctx("r"))).toMatchObject({ ok: true });
  expect(await save(runtime, "c", { userId, origin: { class: "direct_user" } })).toMatchObject({ ok: true });
  expect(isReplaced ? lstatSync(record).isFile() && readFileSync(record).length < 9_000 : true).toBe(true);
  expect(existsSync(elsewhere(record))).toBe(false);
});

test("on a full disk a run that reads a page is not trusted more once there is room, whatever it reads then", async (context) => {
  const disk = await diskOr(context, "tmpfs", { bytes: 1024 * 1024 });
  const filler = join(disk.path, "filler");
  const store = fileStore({ dir: join(disk.path, "data") });
  const policy = trusting();
  {
    await using lax = await createRuntime({ store, policy, threadsMax: 1 });
    expect(await save(lax, "page", web("alice"))).toMatchObject({ ok: true });
    expect(await save(lax, "mine", owner("alice"))).toMatchObject({ ok: true });
  }
  await using strict = await createRuntime({ store, threadsMax: 1 });
  const ctx = inRun("alice", "r");
  fillUp(filler);
  expect(await read(strict, "page", ctx)).toMatchObject({ ok: true });
  // Its own entries lower nothing, and take nothing back.
  expect(await read(strict, "mine", ctx)).toMatchObject({ ok: true });
  rmSync(filler);
  expect(await read(strict, "mine", ctx)).toMatchObject({ ok: true });
  await waits(save(strict, "a", ctx));
  expect(await read(strict, "page", ctx)).toMatchObject({ ok: true });
  await waits(save(strict, "b", ctx));
});

test("the doctor begins a record that was lost anew, and says until when it counts", async () => {
  const { userId, ctx, record } = await newUser("r");
  rmSync(record);
  expect(await runtime.upkeep.mend(owner(userId))).toMatchObject([{ problem: "runs-unreadable" }]);
  expect(existsSync(record)).toBe(true);
  expect(await problemsOf(runtime, userId)).toEqual(["runs-lost"]);
  await waits(save(runtime, "a", ctx("other")));
});

/** Changes files while no host has them open. */
async function whileClosed(change: () => void, options: Partial<RuntimeOptions> = {}): Promise<void> {
  await stage.close();
  change();
  runtime = await stage.open({ clock: () => nowMs, ...options });
}

test.for(["a user", "a store"])(
  "the doctor says that it begins a history of %s anew, and does it at once",
  async (of) => {
    const { userId } = await newUser();
    await runtime.stores(owner(userId)).grant("bob", { level: "read" });
    const ofStore = join(stage.path, "stores", storeIdOf(userId), ".memcell/journal");
    const lose = (): void => rmSync(of === "a user" ? stage.own(userId, "journal") : ofStore, { recursive: true });
    await whileClosed(lose, { retiresLeftOver: false });
    const [found] = await runtime.upkeep.inspect(owner(userId));
    expect(found).toMatchObject({ problem: "history-broken", remedy: expect.any(String) as string });
    expect(await runtime.upkeep.mend(owner(userId))).toEqual([found]);
    expect(await problemsOf(runtime, userId)).toEqual(of === "a user" ? ["runs-lost"] : []);
  },
);

test("a user without runs, and a new user, are not taken for damaged", async () => {
  const { userId, ctx, record } = await newUser();
  expect(existsSync(record)).toBe(false);
  for (const each of [ctx("r"), inRun("new", "r")]) {
    expect(await save(runtime, "a", each)).toMatchObject({ ok: true });
  }
  for (const each of [userId, "new"]) expect(await problemsOf(runtime, each)).toEqual([]);
});

/** As hosts wrote it before the history had runs. */
const oldRecord = (): string => JSON.stringify([{ run: "old", trust: "tool_external", atMs: nowMs }]);

test("a record from before the history had runs counts, and is in the history when a run of it is named", async () => {
  await save(runtime, "a", owner("before"));
  const record = stage.own("before", "runs", "trust.json");
  mkdirSync(join(record, ".."));
  writeFileSync(record, oldRecord());
  expect(await problemsOf(runtime, "before")).toEqual([]);
  await waits(save(runtime, "b", inRun("before", "old")));
  expect(await save(runtime, "c", inRun("before", "other"))).toMatchObject({ ok: true });
  rmSync(record);
  expect(await problemsOf(runtime, "before")).toEqual(["runs-unreadable"]);
  await waits(save(runtime, "d", inRun("before", "old")));
});

test("a run that reads the same again adds no version, and none of the versions is one of a file", async () => {
  const { userId, ctx } = await newUser("r");
  const before = await runtime.upkeep.history(owner(userId));
  for (let round = 0; round < 5; round++) await read(runtime, "page", ctx("r"));
  await read(runtime, "page", ctx("other"));
  expect(await runtime.upkeep.history(owner(userId))).toEqual(before);
  expect(await problemsOf(runtime, userId)).toEqual([]);
  // A run that has only read has nothing to take back.
  await expect(runtime.upkeep.planUndo(owner(userId), { run: "r" })).rejects.toMatchObject({ code: "ENTRY_NOT_FOUND" });
  await whileClosed(() => {});
  const lines = readFileSync(lastSegment(stage.own(userId)), "utf8").split("\n");
  const lowered = lines
    .filter((line) => line.startsWith('{"seq":'))
    .map((line) => JSON.parse(line) as { kind?: string; run: string })
    .filter(({ kind }) => kind === "lowered");
  expect(lowered.map(({ run }) => run)).toEqual(["r", "other"]);
});
