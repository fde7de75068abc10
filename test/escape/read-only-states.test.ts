/** What a crash has left, and a runtime that is read-only: it writes nothing, and shows nothing half done. */
import { appendFileSync, copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime, storeIdOf } from "memcell";
import type { Runtime, ToolResult } from "memcell";
import { afterAll, expect, test } from "vitest";

import { digestOf } from "../stage/store.ts";
import { thisBoot as boot, walOfChange } from "../stage/wal.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedNames } from "../support/test-plugin.ts";
import { treeFingerprint } from "../support/tree-fingerprint.ts";
import { userFolder } from "../support/user-files.ts";

const alice = { userId: "alice" };
const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
let made = 0;

/** One place where a WAL can be left. */
interface Place {
  readonly home: (dataDir: string) => string;
  readonly owner: string;
  readonly scope: string;
  /** The file that the WAL's record changes, below the home. */
  readonly file: string;
  readonly write: (runtime: Runtime, body: string) => Promise<ToolResult>;
  readonly read: (runtime: Runtime) => Promise<ToolResult>;
}

const store = storeIdOf("alice");
const places: Readonly<Record<string, Place>> = {
  "a user's folder": {
    home: (dataDir) => userFolder(dataDir, "alice"),
    owner: "alice",
    scope: "memory",
    file: "a.md",
    write: (runtime, body) => {
      const entry = { action: "upsert", name: "a", type: "user", description: "d", body };
      return runtime.call("UpdateUserMemory", entry, alice);
    },
    read: (runtime) => runtime.call("ReadUserMemory", { name: "a" }, alice),
  },
  "a shared store": {
    home: (dataDir) => join(dataDir, "stores", store),
    owner: `stores/${store}`,
    scope: "entries",
    file: "a.md",
    write: (runtime, content) => runtime.call("memory", { command: "create", path: "/memories/a.md", content }, alice),
    read: (runtime) => runtime.call("memory", { command: "view", path: "/memories/a.md" }, alice),
  },
};

interface Left {
  readonly boot: string | null;
  readonly isApplied: boolean;
  /** Whether the file has the record's content. */
  readonly isInPlace: boolean;
  readonly isDistrusted?: boolean;
  /** The WAL's bytes, if they are not a WAL. */
  readonly garbage?: string;
  /** Whether recovery has nothing to do that a read could see. */
  readonly isReadable: boolean;
}

const states: Readonly<Record<string, Left>> = {
  "an applied record of this start of the machine": { boot, isApplied: true, isInPlace: true, isReadable: true },
  "a record that is not applied": { boot, isApplied: false, isInPlace: false, isReadable: false },
  "a record of another start that is not on the disk": {
    boot: "another",
    isApplied: true,
    isInPlace: false,
    isReadable: false,
  },
  "a record of another start that is on the disk": {
    boot: "another",
    isApplied: true,
    isInPlace: true,
    isReadable: true,
  },
  "a WAL that is distrusted, with files as it says": {
    boot,
    isApplied: true,
    isInPlace: true,
    isDistrusted: true,
    isReadable: true,
  },
  "a file that is no WAL": {
    boot,
    isApplied: true,
    isInPlace: true,
    garbage: "no WAL".repeat(2_000),
    isReadable: false,
  },
};

const rows = Object.entries(places).flatMap(([where, place]) =>
  Object.entries(states).map(([what, left]) => ({ name: `${what} in ${where}`, place, left })),
);

test.for(rows)("$name", async ({ place, left }) => {
  const dataDir = join(folder.path, `data-${++made}`);
  const { before, after } = await twoVersions(dataDir, place);
  const home = place.home(dataDir);
  const file = join(home, place.scope, place.file);
  writeFileSync(file, left.isInPlace ? after : before);
  writeFileSync(join(home, ".memcell/journal"), walWith(place, left, { before, after }));
  const found = treeFingerprint(dataDir);
  {
    await using runtime = await createRuntime({ dataDir, plugins: shippedNames(), threadsMax: 1, readOnly: true });
    const result = await place.read(runtime);
    if (left.isReadable) expect(result).toMatchObject({ ok: true });
    else {
      const message = expect.stringContaining("folder: an interrupted change is unfinished, which a read-only runtime");
      expect(result).toMatchObject({ ok: false, error: { code: "STORAGE_FAILED", retryable: false, message } });
      // The owner sees what is there, and that something is left.
      expect((await runtime.upkeep.inspect(alice)).length).toBeGreaterThan(0);
    }
  }
  expect(treeFingerprint(dataDir)).toEqual(found);
  // Another runtime finishes it, and then it is read.
  {
    await using runtime = await createRuntime({ dataDir, plugins: shippedNames(), threadsMax: 1 });
    await runtime.upkeep.mend(alice);
  }
  await using runtime = await createRuntime({ dataDir, plugins: shippedNames(), threadsMax: 1, readOnly: true });
  expect(await place.read(runtime)).toMatchObject({ ok: true });
  if (left.garbage === undefined) expect(readFileSync(file)).toEqual(after);
});

/** Two versions of a file, as a tool writes them. The second is on the disk. */
async function twoVersions(
  dataDir: string,
  place: Place,
): Promise<{ readonly before: Buffer; readonly after: Buffer }> {
  await using runtime = await createRuntime({ dataDir, plugins: shippedNames(), threadsMax: 1 });
  const file = join(place.home(dataDir), place.scope, place.file);
  expect(await place.write(runtime, "first")).toMatchObject({ ok: true });
  const before = readFileSync(file);
  expect(await place.write(runtime, "second")).toMatchObject({ ok: true });
  return { before, after: readFileSync(file) };
}

function walWith({ owner, scope, file }: Place, left: Left, texts: { before: Buffer; after: Buffer }): Buffer {
  if (left.garbage !== undefined) return Buffer.from(left.garbage);
  const files = [{ scope, path: file, before: digestOf(texts.before), after: texts.after }];
  return walOfChange(owner, { boot: left.boot, files }, left);
}

test("a runtime that is read-only reads beside one that writes, and neither waits for the other's end", async () => {
  const dataDir = join(folder.path, `data-${++made}`);
  const { write, read } = places["a user's folder"] as Place;
  await using writer = await createRuntime({ dataDir, plugins: shippedNames(), threadsMax: 1 });
  await using reader = await createRuntime({ dataDir, plugins: shippedNames(), threadsMax: 1, readOnly: true });
  for (const body of ["one", "two", "three"]) {
    expect(await write(writer, body)).toMatchObject({ ok: true });
    expect(await read(reader)).toMatchObject({ ok: true, data: { body } });
  }
});

test("a mounted folder is written to as little, and its unfinished change is not read", async () => {
  const [dataDir, dir] = [join(folder.path, `data-${++made}`), join(folder.path, "workspace")];
  mkdirSync(dir);
  const options = {
    dataDir,
    plugins: ["journal"],
    threadsMax: 1,
    mounts: [{ userId: "alice", scope: "journal", dir }],
  };
  {
    await using runtime = await createRuntime(options);
    expect(await runtime.call("memory_write", { key: "k", content: "c" }, alice)).toMatchObject({ ok: true });
  }
  const readKey = async (): Promise<ToolResult> => {
    await using runtime = await createRuntime({ ...options, readOnly: true });
    return await runtime.call("memory_read", { key: "k" }, alice);
  };
  const found = treeFingerprint(dir);
  expect(await readKey()).toMatchObject({ ok: true });
  expect(treeFingerprint(dir)).toEqual(found);
  copyFileSync(join(dir, ".memcell/journal"), join(folder.path, "journal"));
  rmSync(join(dir, ".memcell/journal"));
  appendFileSync(join(dir, ".memcell/journal"), "no WAL".repeat(2_000));
  const damaged = treeFingerprint(dir);
  expect(await readKey()).toMatchObject({ ok: false, error: { code: "STORAGE_FAILED" } });
  expect(treeFingerprint(dir)).toEqual(damaged);
});

test.for(["lock", "turnstile", "owner", "journal"])(
  "without its own file %s, a folder is read and gets none",
  async (name) => {
    const dataDir = join(folder.path, `data-${++made}`);
    const place = places["a user's folder"] as Place;
    await twoVersions(dataDir, place);
    rmSync(join(place.home(dataDir), ".memcell", name));
    const found = treeFingerprint(dataDir);
    {
      await using runtime = await createRuntime({ dataDir, plugins: shippedNames(), threadsMax: 1, readOnly: true });
      expect(await place.read(runtime)).toMatchObject({ ok: true });
      await runtime.upkeep.inspect(alice);
    }
    expect(treeFingerprint(dataDir)).toEqual(found);
  },
);
