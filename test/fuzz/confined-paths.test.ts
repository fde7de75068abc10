/**
 * Paths from hostile pieces, through a guest that has every right, compared with an oracle: a path inside the grammar is
 * exactly that file of the user's scope, any other is denied. Files outside the scope never change.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import fc from "fast-check";
import { afterAll, expect, test } from "vitest";

import { runs } from "../stage/random-runs.ts";
import { openStage } from "../stage/runtime.ts";
import { openDescriptorsAtRest } from "../support/open-descriptors.ts";
import { policyFor } from "../support/policy-for.ts";
import { testPlugin } from "../support/test-plugin.ts";
import { treeFingerprint } from "../support/tree-fingerprint.ts";
import { writeUserFiles } from "../support/user-files.ts";

const plugins = [testPlugin("puppet")];
const stage = await openStage({ plugins, policy: policyFor(plugins), threadsMax: 1 });
afterAll(() => stage[Symbol.asyncDispose]());
const { dataDir, folder, runtime } = stage;
const users = join(dataDir, "users");
const memory = join(users, "alice", "memory");

/** Files in every place that a climbing path can lead to. */
const decoys = { a: "decoy", "b.md": "decoy", "MEMORY.md": "decoy", "memory/a": "decoy", "memory/b.md": "decoy" };
writeUserFiles(dataDir, { bob: decoys, alice: { "memory/MEMORY.md": "own" } });
for (const place of [folder, dataDir, users])
  for (const name of ["a", "b.md", "MEMORY.md"]) writeFileSync(join(place, name), "decoy");
const outside = (): unknown => [
  treeFingerprint(join(users, "bob")),
  ...[folder, dataDir, users].map((place) => readdirSync(place)),
  ...["a", "b.md", "MEMORY.md"].map((name) => readFileSync(join(users, name), "utf8")),
];

const words = ". .. / / / \\ %2e %2f a A a b.md trash Trash MEMORY.md CON ． ‥ ／ ∕ é - _ ~ : bob memory users".split(
  " ",
);
const path = fc
  .array(fc.constantFrom(...words, " ", "\n", "\0", "\u202e", "\ud800"), { maxLength: 7 })
  .map((all) => all.join(""));
/** Paths of allowed pieces, so that enough paths are inside the grammar. */
const plain = fc
  .array(fc.constantFrom(..."a A b.md trash Trash MEMORY.md CON - _ .. memory".split(" ")), {
    minLength: 1,
    maxLength: 4,
  })
  .map((all) => all.join("/"));
/** The trash in any spelling, and names that only begin so. */
const trash = fc
  .tuple(fc.constantFrom("trash", "Trash", "tRASH"), fc.constantFrom("", "/a.md", "x", "/"))
  .map((parts) => parts.join(""));
const anyPath = fc.oneof(
  { weight: 4, arbitrary: trash },
  { weight: 10, arbitrary: path },
  { weight: 10, arbitrary: plain },
  { weight: 1, arbitrary: path.map((each) => each + "a".repeat(256)) },
);

/** A second definition of the grammar: by the texts that it forbids. */
function isInside(text: string): boolean {
  if (text === "" || text.length > 255 || /[^A-Za-z0-9._/-]/.test(text)) return false;
  return !text.startsWith("/") && !text.endsWith("/") && !text.includes("//") && !/(^|\/)\./.test(text);
}

/** The code of a call that makes one request, or its reply. */
async function ask(of: string, request: object): Promise<unknown> {
  const result = await runtime.call("Puppet", [{ of, ask: JSON.stringify(request) }], { userId: "alice" });
  return result.ok ? (result.data as unknown[])[0] : result.error.code;
}

/** Empties the scope, so that no file is in a folder's way. */
function clear(): void {
  rmSync(memory, { recursive: true, force: true });
  mkdirSync(memory);
}

const denied = "CAPABILITY_DENIED";

test("a guest reads, writes, lists and trashes files inside the grammar, and nothing else", async () => {
  await ask("store_write", { scope: "memory", path: "first.md", content: "" });
  const before = outside();
  const anyScope = fc.constantFrom("memory", "memory", "memory", "Memory", "..", ".memcell", "", "../bob");
  await fc.assert(
    fc.asyncProperty(anyPath, anyScope, async (at, scope) => {
      clear();
      const isAllowed = isInside(at) && scope === "memory";
      const isWritten = isAllowed && !/^trash($|\/)/i.test(at);
      const file = join(memory, ...at.split("/"));
      const written = await ask("store_write", { scope, path: at, content: "x" });
      expect(written).toEqual(isWritten ? { ok: true } : denied);
      if (isWritten) expect(readFileSync(file, "utf8")).toBe("x");
      else expect(readdirSync(memory)).toEqual([]);
      const read = await ask("store_read", { scope, path: at });
      expect(read).toEqual(isAllowed ? { ok: true, content: isWritten ? "x" : null } : denied);
      const prefix = at.endsWith("/") ? at.slice(0, -1) : at;
      const isPrefix = scope === "memory" && (at === "" || isInside(prefix));
      const listed = await ask("store_list", { scope, prefix: at });
      expect(listed).toEqual(isPrefix ? expect.objectContaining({ ok: true }) : denied);
      const trashed = await ask("store_trash", { scope, path: at });
      expect(trashed).toEqual(isWritten ? expect.objectContaining({ ok: true }) : denied);
      if (isWritten) expect(existsSync(file)).toBe(false);
      expect(outside()).toEqual(before);
    }),
    runs(60),
  );
  expect(await openDescriptorsAtRest(dataDir)).toEqual([]);
});
