/** What a crash has left, and a runtime that is read-only: it writes nothing, and shows nothing half done. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime, storeIdOf } from "memcell";
import type { Runtime, ToolResult } from "memcell";
import { afterAll, beforeAll, expect, test } from "vitest";

import { digestOf } from "../stage/store.ts";
import { thisBoot as boot, walOfChange } from "../stage/wal.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { treeFingerprint } from "../support/tree-fingerprint.ts";
import { userFolder } from "../support/user-files.ts";

const folder = temporaryFolder();
const dataDir = join(folder.path, "data");
const open = (readOnly: boolean): Promise<Runtime> =>
  createRuntime({ dataDir, plugins: ["user-memory", "stores"], threadsMax: 1, readOnly });

/** One place where a WAL can be left. */
interface Place {
  readonly homeOf: (userId: string) => string;
  readonly ownerOf: (userId: string) => string;
  readonly scope: string;
  readonly write: (runtime: Runtime, userId: string, text: string) => Promise<ToolResult>;
  readonly read: (runtime: Runtime, userId: string) => Promise<ToolResult>;
}

const aUser: Place = {
  homeOf: (userId) => userFolder(dataDir, userId),
  ownerOf: (userId) => userId,
  scope: "memory",
  write: (runtime, userId, body) => {
    const entry = { action: "upsert", name: "a", type: "user", description: "d", body };
    return runtime.call("UpdateUserMemory", entry, { userId });
  },
  read: (runtime, userId) => runtime.call("ReadUserMemory", { name: "a" }, { userId }),
};
const aStore: Place = {
  homeOf: (userId) => join(dataDir, "stores", storeIdOf(userId)),
  ownerOf: (userId) => `stores/${storeIdOf(userId)}`,
  scope: "entries",
  write: (runtime, userId, content) =>
    runtime.call("memory", { command: "create", path: "/memories/a.md", content }, { userId }),
  read: (runtime, userId) => runtime.call("memory", { command: "view", path: "/memories/a.md" }, { userId }),
};

interface Left {
  readonly boot?: string;
  readonly isApplied?: boolean;
  readonly isDistrusted?: boolean;
  /** Whether the file has the text of before the record. */
  readonly isBefore?: boolean;
  /** Instead of a WAL. */
  readonly garbage?: string;
  /** A file of the host's that is gone. */
  readonly without?: string;
  /** Whether recovery has something to do that a read could see. */
  readonly isUnfinished?: boolean;
}

const states: Readonly<Record<string, Left>> = {
  "an applied record of this start of the machine": { isApplied: true },
  "a record that is not applied": { isBefore: true, isUnfinished: true },
  "a record of another start that is not on the disk": {
    boot: "another",
    isApplied: true,
    isBefore: true,
    isUnfinished: true,
  },
  "a record of another start that is on the disk": { boot: "another", isApplied: true },
  "a WAL that is distrusted, with files as it says": { isApplied: true, isDistrusted: true },
  "a file that is no WAL": { garbage: "no WAL".repeat(2_000), isUnfinished: true },
};
const lacks = ["lock", "turnstile", "owner", "journal"].map(
  (without) => [`no file ${without} of the host's`, { without }] as const,
);
const rows = [
  ...Object.entries(states).map(([what, left]) => ({ what, left, place: aStore, where: "a shared store" })),
  ...[...Object.entries(states), ...lacks].map(([what, left]) => ({ what, left, place: aUser, where: "a user" })),
].map((row: { what: string; left: Left; place: Place; where: string }, at) =>
  Object.assign(row, { userId: `user-${at}` }),
);

type Row = (typeof rows)[number];

const fileOf = ({ place, userId }: Row): string => join(place.homeOf(userId), place.scope, "a.md");
/** What each row's file had in the end. */
const written = new Map<Row, Buffer>();

/** Two versions of a file, as a tool writes them, and then what is left. */
async function lay(runtime: Runtime, row: Row): Promise<() => void> {
  const { place, userId, left } = row;
  expect(await place.write(runtime, userId, "first")).toMatchObject({ ok: true });
  const before = readFileSync(fileOf(row));
  expect(await place.write(runtime, userId, "second")).toMatchObject({ ok: true });
  const after = readFileSync(fileOf(row));
  written.set(row, after);
  const own = join(place.homeOf(userId), ".memcell");
  return () => {
    if (left.without !== undefined) return rmSync(join(own, left.without));
    writeFileSync(fileOf(row), left.isBefore === true ? before : after);
    const files = [{ scope: place.scope, path: "a.md", before: digestOf(before), after }];
    const wal = left.garbage ?? walOfChange(place.ownerOf(userId), { boot: left.boot ?? boot, files }, left);
    writeFileSync(join(own, "journal"), wal);
  };
}

let found: unknown;
let reader: Runtime;
beforeAll(async () => {
  const layings: (() => void)[] = [];
  {
    await using writer = await open(false);
    for (const row of rows) layings.push(await lay(writer, row));
  }
  for (const laying of layings) laying();
  found = treeFingerprint(dataDir);
  reader = await open(true);
});
afterAll(async () => {
  await reader.close();
  folder[Symbol.dispose]();
});

test.for(rows)("$what in $where", async ({ place, left, userId }) => {
  const result = await place.read(reader, userId);
  const findings = await reader.upkeep.inspect({ userId });
  if (left.isUnfinished === true) {
    const message = expect.stringContaining("folder: an interrupted change is unfinished, which a read-only runtime");
    expect(result).toMatchObject({ ok: false, error: { code: "STORAGE_FAILED", retryable: false, message } });
    // The owner sees what is there, and that something is left.
    expect(findings.length).toBeGreaterThan(0);
  } else expect(result).toMatchObject({ ok: true });
});

test("nothing is changed, and what another runtime finishes is read", async () => {
  expect(treeFingerprint(dataDir)).toEqual(found);
  await using writer = await open(false);
  for (const row of rows) {
    await writer.upkeep.mend({ userId: row.userId });
    expect(await row.place.read(reader, row.userId)).toMatchObject({ ok: true });
    if (row.left.garbage === undefined) expect(readFileSync(fileOf(row))).toEqual(written.get(row));
  }
  for (const body of ["one", "two", "three"]) {
    expect(await aUser.write(writer, "user-0", body)).toMatchObject({ ok: true });
    expect(await aUser.read(reader, "user-0")).toMatchObject({ ok: true, data: { body } });
  }
});

test("a mounted folder is written to as little, and its unfinished change is not read", async () => {
  const alice = { userId: "alice" };
  const dir = join(folder.path, "workspace");
  mkdirSync(dir);
  const mounts = [{ ...alice, scope: "journal", dir }];
  const options = { dataDir: join(folder.path, "own"), plugins: ["journal"], threadsMax: 1, mounts };
  {
    await using runtime = await createRuntime(options);
    expect(await runtime.call("memory_write", { key: "k", content: "c" }, alice)).toMatchObject({ ok: true });
  }
  const readKey = async (): Promise<ToolResult> => {
    await using runtime = await createRuntime({ ...options, readOnly: true });
    return await runtime.call("memory_read", { key: "k" }, alice);
  };
  const whole = treeFingerprint(dir);
  expect(await readKey()).toMatchObject({ ok: true });
  expect(treeFingerprint(dir)).toEqual(whole);
  writeFileSync(join(dir, ".memcell/journal"), "no WAL".repeat(2_000));
  const damaged = treeFingerprint(dir);
  expect(await readKey()).toMatchObject({ ok: false, error: { code: "STORAGE_FAILED" } });
  expect(treeFingerprint(dir)).toEqual(damaged);
});
