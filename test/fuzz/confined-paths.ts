/**
 * Paths from hostile pieces, through the store and through the capabilities, compared with an oracle: a path inside the
 * grammar is exactly that file of the user's scope, any other is denied. Files outside the scope never change.
 */
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import fc from "fast-check";
import { afterAll, expect } from "vitest";

import { bindCapabilities } from "../../host/guest/capabilities/bind-capabilities.ts";
import { StagedChanges } from "../../host/guest/capabilities/staged-changes.ts";
import { DiskRoot, FileStore } from "../crash/host-under-test.ts";
import type { ChangeSet, UserId, UserReader } from "../stage/store.ts";
import { fullGrant } from "../support/full-grant.ts";
import { openDescriptors, openDescriptorsAtRest } from "../support/open-descriptors.ts";
import { readStored } from "../support/read-stored.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { treeFingerprint } from "../support/tree-fingerprint.ts";
import { writeUserFiles } from "../support/user-files.ts";

const alice = "alice" as UserId;
const root = temporaryFolder();
afterAll(() => root[Symbol.dispose]());
const dataDir = join(root.path, "data");
const memory = join(dataDir, "users/alice/memory");
const store = new FileStore(new DiskRoot(dataDir), { durability: "relaxed", note: () => {} });

/** Files in every place that a climbing path can lead to. */
const decoys = { a: "decoy", "b.md": "decoy", "MEMORY.md": "decoy", "memory/a": "decoy", "memory/b.md": "decoy" };
writeUserFiles(dataDir, { bob: decoys, alice: { "memory/MEMORY.md": "own" } });
for (const folder of [root.path, dataDir, join(dataDir, "users")]) {
  for (const name of ["a", "b.md", "MEMORY.md"]) writeFileSync(join(folder, name), "decoy");
}
const outside = (): unknown => [
  treeFingerprint(join(dataDir, "users/bob")),
  ...[root.path, dataDir, join(dataDir, "users"), join(dataDir, "users/alice")].map((folder) => readdirSync(folder)),
  ...["a", "b.md", "MEMORY.md"].map((name) => treeFingerprint(join(dataDir, "users"))[name]),
];

const pieces = [
  ".",
  "..",
  "/",
  "/",
  "/",
  "\\",
  "%2e",
  "%2f",
  "\u0000",
  "a",
  "A",
  "a",
  "b.md",
  "trash",
  "Trash",
  "MEMORY.md",
  "CON",
];
const path = fc
  .array(
    fc.constantFrom(
      ...pieces,
      " ",
      "\n",
      "．",
      "‥",
      "／",
      "∕",
      "é",
      "\u202e",
      "\ud800",
      "-",
      "_",
      "~",
      ":",
      "bob",
      "memory",
      "users",
    ),
    { maxLength: 7 },
  )
  .map((all) => all.join(""));
/** Paths of allowed pieces, so that enough paths are inside the grammar. */
const plain = fc
  .array(fc.constantFrom("a", "A", "b.md", "trash", "Trash", "MEMORY.md", "CON", "-", "_", "..", "memory"), {
    minLength: 1,
    maxLength: 4,
  })
  .map((all) => all.join("/"));
const anyPath = fc.oneof(
  { weight: 10, arbitrary: path },
  { weight: 10, arbitrary: plain },
  { weight: 1, arbitrary: path.map((each) => each + "a".repeat(256)) },
);

/** A second definition of the grammar: by the texts that it forbids. */
function isInside(text: string): boolean {
  if (text === "" || text.length > 255 || /[^A-Za-z0-9._/-]/.test(text)) return false;
  return !text.startsWith("/") && !text.endsWith("/") && !text.includes("//") && !/(^|\/)\./.test(text);
}

const codeOf = async (work: () => unknown): Promise<string> => {
  try {
    await work();
    return "ok";
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
};
const commit = (changes: ChangeSet): Promise<void> =>
  store.hold(alice, { writes: true, until: performance.now() + 10_000 }, (held) => held.commit(changes, []));

/** Empties the scope, so that no file is in a folder's way. */
function clear(): void {
  rmSync(memory, { recursive: true, force: true });
  mkdirSync(memory);
}

const change = (kind: "write" | "remove", at: string): ChangeSet =>
  kind === "write" ? [{ kind, scope: "memory", path: at, content: `of ${at}` }] : [{ kind, scope: "memory", path: at }];

/** The store reads, writes, lists and removes files inside the grammar, and denies other paths. */
export async function expectConfinedStore(numRuns: number): Promise<void> {
  await commit([{ kind: "write", scope: "memory", path: "first.md", content: "" }]);
  const before = outside();
  await fc.assert(
    fc.asyncProperty(anyPath, anyPath, async (at, other) => {
      clear();
      using reader = store.openUser(alice);
      const expected = isInside(at) ? "ok" : "CAPABILITY_DENIED";
      expect(await codeOf(() => reader.read("memory", at))).toBe(expected);
      expect(await codeOf(() => reader.sizeOf("memory", at))).toBe(expected);
      expect(await codeOf(() => commit(change("write", at)))).toBe(expected);
      if (expected === "ok") {
        expect(readStored(store, alice, at)).toBe(`of ${at}`);
        expect(existsSync(join(memory, ...at.split("/")))).toBe(true);
        expect(pathsBelow(at)).toEqual([at]);
      } else {
        expect(readdirSync(memory)).toEqual([]);
      }
      // Any other path finds nothing, is denied, or would need that file as its folder.
      if (other !== at) expect(readQuietly(other)).toBe(null);
      expect(await codeOf(() => commit(change("remove", at)))).toBe(expected);
      expect(pathsBelow("")).toEqual([]);
      expect(outside()).toEqual(before);
    }),
    { numRuns },
  );
  expect(await openDescriptorsAtRest(root.path)).toEqual([]);
}

function pathsBelow(prefix: string): string[] {
  using reader = store.openUser(alice);
  return reader.list("memory", prefix).map((each) => each.path);
}

function readQuietly(at: string): string | null {
  try {
    return readStored(store, alice, at);
  } catch {
    return null;
  }
}

/** A fresh call of a guest that has every right. */
function guest(reader: UserReader): ReturnType<typeof bindCapabilities> {
  const call = { grant: fullGrant(alice), store: reader, staged: new StagedChanges(), epochMs: 0 };
  return bindCapabilities(call, { denial: null, reported: new Set(), causes: [] });
}

const replyTo = (reply: string): string => {
  const parsed = JSON.parse(reply) as { ok: boolean; error?: { code: string } };
  return parsed.ok ? "ok" : (parsed.error?.code ?? "no code");
};

/** Capabilities answer the same, refuse changes of the trash, and write nothing to the disk. */
export function expectConfinedCapabilities(numRuns: number): void {
  clear();
  const before = outside();
  fc.assert(
    fc.property(anyPath, fc.constantFrom("memory", "Memory", "..", ".memcell", "", "../bob"), (at, scope) => {
      using reader = store.openUser(alice);
      const asked = guest(reader);
      const request = (more: object = {}): string => JSON.stringify({ scope, path: at, ...more });
      const isAllowed = isInside(at) && scope === "memory";
      const isTrash = /^trash($|\/)/i.test(at);
      expect(replyTo(asked.store_read(request()))).toBe(isAllowed ? "ok" : "CAPABILITY_DENIED");
      const written = replyTo(asked.store_write(request({ content: "x" })));
      expect(written).toBe(isAllowed && !isTrash ? "ok" : "CAPABILITY_DENIED");
      const seen = asked.store_read(request());
      if (written === "ok") expect(seen).toBe('{"ok":true,"content":"x"}');
      expect(replyTo(asked.store_trash(request()))).toBe(written);
      const prefix = at.endsWith("/") ? at.slice(0, -1) : at;
      const listed = replyTo(asked.store_list(JSON.stringify({ scope, prefix: at })));
      expect(listed).toBe(scope === "memory" && (at === "" || isInside(prefix)) ? "ok" : "CAPABILITY_DENIED");
      expect(readdirSync(memory)).toEqual([]);
    }),
    { numRuns },
  );
  expect(outside()).toEqual(before);
  expect(openDescriptors(root.path)).toEqual([]);
}
