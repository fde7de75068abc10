/**
 * Data folders that earlier commits of memcell have left, each killed after its last call. What they knew of them is beside: entries,
 * trash, history, writes that wait. `formats/` has one for each form that the log and the history of a home have had.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

import { createRuntime } from "memcell";
import type { Runtime, RuntimeOptions } from "memcell";
import { expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";
import { treeFingerprint } from "../support/tree-fingerprint.ts";

/** What an earlier version has shown of the data of its one user. */
interface Expected {
  readonly plugins: string[];
  readonly atMs: number;
  readonly memory: Readonly<Record<string, string>>;
  readonly otherScopes: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly trash: readonly { readonly name: string }[];
  readonly updatedEntry: {
    readonly path: string;
    readonly versions: readonly { readonly seq: number; readonly text: string }[] | null;
  };
  readonly allVersions: readonly Version[] | null;
  readonly waiting: readonly { readonly id: string; readonly files: unknown }[] | null;
}

interface Version {
  readonly seq: number;
  readonly path: string;
  readonly sha256: string | null;
}

const ctx = { userId: "alice" };
const formats = join(import.meta.dirname, "formats");
const names = readdirSync(formats).map((file) => file.replace(".tar.gz", ""));
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const keysOf = (versions: readonly Version[]): unknown[] =>
  versions.map(({ seq, path, sha256 }) => [seq, path, sha256]);

function unpacked(name: string) {
  const folder = temporaryFolder();
  execFileSync("tar", ["-xzf", join(formats, `${name}.tar.gz`), "-C", folder.path]);
  const expected = JSON.parse(readFileSync(join(folder.path, "expected.json"), "utf8")) as Expected;
  const dataDir = join(folder.path, "data");
  const open = (options: Partial<RuntimeOptions> = {}): Promise<Runtime> =>
    createRuntime({ dataDir, plugins: expected.plugins, clock: () => expected.atMs, ...options });
  return { expected, dataDir, open, [Symbol.dispose]: () => folder[Symbol.dispose]() };
}

async function expectShown(runtime: Runtime, expected: Expected): Promise<void> {
  const { upkeep } = runtime;
  const shown: Record<string, Record<string, string>> = {};
  for (const { scope, path, content } of (await upkeep.export(ctx)).files) {
    (shown[scope] ??= {})[path] = Buffer.from(content).toString();
  }
  expect(shown).toEqual({ memory: expected.memory, ...expected.otherScopes });
  expect(plain(await upkeep.listTrash(ctx))).toEqual(expected.trash);
  expect(keysOf(await upkeep.history(ctx))).toEqual(keysOf(expected.allVersions ?? []));
  expect(plain((await upkeep.pending(ctx)).map(({ id, files }) => ({ id, files })))).toEqual(
    (expected.waiting ?? []).map(({ id, files }) => ({ id, files })),
  );
}

/** Puts each former text of the entry back. */
async function expectTexts({ upkeep }: Runtime, { updatedEntry }: Expected, dataDir: string): Promise<void> {
  const { path, versions } = updatedEntry;
  for (const { seq, text } of versions ?? []) {
    await upkeep.restoreVersion(ctx, path, { version: seq });
    expect(readFileSync(join(dataDir, "users/alice/memory", path), "utf8")).toBe(text);
  }
}

test("there is a folder of each format", () => {
  expect(names.toSorted()).toEqual([
    "format-1",
    "format-2",
    "format-2-last",
    "format-3",
    "format-3-dropped",
    "format-3-early",
    "format-3-first",
  ]);
});

test.for(names)("%s opens without loss, and becomes a journal", async (name) => {
  using older = unpacked(name);
  const { expected, dataDir, open } = older;
  const own = join(dataDir, "users/alice/.memcell");
  for (let time = 1; time <= 2; time++) {
    const runtime = await open();
    await expectShown(runtime, expected);
    expect(await runtime.upkeep.inspect(ctx)).toEqual([]);
    await runtime.close();
    expect(existsSync(join(own, "history"))).toBe(false);
    expect(existsSync(join(own, "journal-3"))).toBe(false);
    expect(readdirSync(join(own, "journal")).some((file) => file.endsWith(".log"))).toBe(true);
  }
  const runtime = await open();
  await expectTexts(runtime, expected, dataDir);
  await runtime.close();
});

test.for(names)("where nothing may be written, %s is read as it is", async (name) => {
  using older = unpacked(name);
  const { expected, dataDir, open } = older;
  const before = treeFingerprint(dataDir);
  const runtime = await open({ readOnly: true });
  await expectShown(runtime, expected);
  await runtime.close();
  expect(treeFingerprint(dataDir)).toEqual(before);
});

test("what dropped versions have said of a file's trust stays", async () => {
  using older = unpacked("format-3-dropped");
  for (let time = 1; time <= 3; time++) {
    const runtime = await older.open();
    const { files } = await runtime.upkeep.export(ctx);
    expect(files.map(({ path }) => path)).toContain("oldest.md");
    expect(files.flatMap(({ trust }) => trust ?? [])).toEqual([]);
    await runtime.close();
  }
});

test.for(names.filter((name) => name.startsWith("format-3")))(
  "a purge in %s reaches what its history has",
  async (name) => {
    using older = unpacked(name);
    const { expected, dataDir, open } = older;
    const trashed = Object.entries(expected.memory).filter(([path]) => path.startsWith("trash/"));
    const runtime = await open();
    await runtime.upkeep.purge(ctx, { beforeEpochMs: expected.atMs + 1_000 });
    await runtime.close();
    const own = join(dataDir, "users/alice/.memcell");
    const files = readdirSync(own, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
    const texts = files.map(({ parentPath, name: file }) => readFileSync(join(parentPath, file)));
    const all = texts.map((bytes) => (bytes[0] === 0x1f ? gunzipSync(bytes) : bytes).toString()).join("\n");
    expect(trashed.length).toBeGreaterThan(0);
    for (const [, text] of trashed)
      expect(all).not.toContain(JSON.stringify(text.trim().split("\n").at(-1)).slice(1, -1));
  },
);

test.for([
  { lost: "the log", lose: (own: string) => rmSync(join(own, "journal")) },
  { lost: "the log and the versions", lose: loseVersions },
])("a home of format 3 that has lost $lost keeps the rest, and none of its files is trusted", async ({ lose }) => {
  using older = unpacked("format-3");
  const { expected, dataDir, open } = older;
  lose(join(dataDir, "users/alice/.memcell"));
  for (let round = 0; round < 3; round++) {
    const runtime = await open();
    const { files } = await runtime.upkeep.export(ctx, { scopes: ["memory"] });
    expect(files.map(({ trust }) => trust)).toContain("untrusted_document");
    await runtime.close();
  }
  const runtime = await open();
  const kept = (expected.allVersions ?? []).filter(({ seq }) => seq <= 8).map(({ seq }) => seq);
  const seqs = (await runtime.upkeep.history(ctx)).map(({ seq }) => seq);
  if (lose !== loseVersions) expect(seqs).toEqual(expect.arrayContaining(kept));
  await runtime.close();
});

function loseVersions(own: string): void {
  rmSync(join(own, "journal"));
  for (const name of readdirSync(join(own, "history"))) {
    if (name.endsWith(".jsonl")) rmSync(join(own, "history", name));
  }
}
