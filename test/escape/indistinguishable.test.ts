/**
 * Answers to a guest, a model and a caller do not depend on anything outside: the answer about a path, a scope, an
 * entry or a user is the same to the byte, whether the thing exists or not.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import type { Runtime } from "memcell";
import { afterAll, beforeAll, expect, test } from "vitest";

import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin, testPlugin } from "../support/test-plugin.ts";
import { writeUserFiles } from "../support/user-files.ts";

const fact = "---\nname: x\ndescription: of bob\ntype: user\n---\nsecret of bob";
const capabilities = ["store_read", "store_list", "store_write", "store_trash"] as const;

/** Two machines that differ only outside Alice's folder. */
const rich = temporaryFolder();
const poor = temporaryFolder();
const worlds = [rich, poor].map(({ path }) => join(path, "data"));
let runtimes: Runtime[];

beforeAll(async () => {
  for (const dataDir of worlds) writeUserFiles(dataDir, { alice: { "memory/a.md": "of alice" } });
  writeUserFiles(join(rich.path, "data"), {
    bob: {
      "memory/x.md": fact,
      "memory/MEMORY.md": "- [x](x.md) — of bob\n",
      ".memcell/owner": "bob",
      "journal/x.md": fact,
    },
    alice: { "journal/x.md": fact, ".memcell/owner": "alice", ".memcell/lock": "" },
  });
  for (const name of ["x.md", "secret"]) writeFileSync(join(rich.path, name), fact);
  mkdirSync(join(rich.path, "data/users/alice/memory/.hidden"));
  writeFileSync(join(rich.path, "data/users/alice/memory/.hidden/x.md"), fact);
  writeFileSync(join(rich.path, "data/users/alice/memory/a:b.md"), fact);
  const plugins = [testPlugin("puppet"), shippedPlugin("user-memory")];
  runtimes = await Promise.all(
    worlds.map((dataDir) =>
      createRuntime({ dataDir, plugins, policy: policyFor(plugins), threadsMax: 1, clock: () => 0 }),
    ),
  );
});
afterAll(async () => {
  await Promise.all(runtimes.map((runtime) => runtime.close()));
  for (const each of [rich, poor]) each[Symbol.dispose]();
});

/** What each machine answers. */
const inBoth = (call: (runtime: Runtime) => Promise<unknown>): Promise<string[]> =>
  Promise.all(runtimes.map(async (runtime) => JSON.stringify(await call(runtime))));

/** The answers to a guest that asks each capability for a path, or for a prefix. */
async function answersOf(scope: string, path: string): Promise<string[][]> {
  const answers = capabilities.map((of) => {
    const named = of === "store_list" ? { prefix: path } : { path };
    const request = { scope, ...named, ...(of === "store_write" && { content: "x" }) };
    return inBoth((each) => each.call("Puppet", [{ of, request: JSON.stringify(request) }], { userId: "alice" }));
  });
  return await Promise.all(answers);
}

const outsidePaths = `
  ../../bob/memory/x.md ../bob/memory/x.md ../../../x.md ../../../../secret ../journal/x.md
  ../.memcell/owner ../.memcell/lock .hidden/x.md .hidden a.md/../../../bob/memory/x.md
  /etc/passwd /etc/no-such-file /proc/self/environ .. .`
  .trim()
  .split(/\s+/)
  .concat("a:b.md");

test.for(outsidePaths)("the answer about %s reveals nothing", async (path) => {
  for (const [one, other] of await answersOf("memory", path)) {
    expect(one).toBe(other);
    expect(one).toContain('"CAPABILITY_DENIED"');
  }
});

test.for(["journal", "bob", "../bob/memory", ".memcell", "no-such-scope"])(
  "the answer about the scope %s reveals nothing",
  async (scope) => {
    for (const [one, other] of await answersOf(scope, "x.md")) expect(one).toBe(other);
  },
);

test("two denials of paths differ only in the path that the guest named", async () => {
  const paths = [
    "../../bob/memory/x.md",
    "../../bob/memory/y.md",
    "../../eve/memory/x.md",
    "/etc/passwd",
    "/etc/passwx",
  ];
  const forms = paths.map(async (path) => JSON.stringify(await answersOf("memory", path)).replaceAll(path, "PATH"));
  expect(new Set(await Promise.all(forms)).size).toBe(1);
});

test("a listing shows only paths that a guest could name", async () => {
  const request = JSON.stringify({ scope: "memory", prefix: "" });
  const lists = await inBoth((each) => each.call("Puppet", [{ of: "store_list", request }], { userId: "alice" }));
  for (const list of lists) expect(list.match(/\\"path\\":\\"[^"]*"/g)).toEqual(['\\"path\\":\\"a.md\\"']);
});

const reading = (name: string, userId: string): Promise<string[]> =>
  inBoth((each) => each.call("ReadUserMemory", { name }, { userId }));

test("another user's entry, a missing entry, and an entry of a missing user look the same to a reader", async () => {
  for (const name of ["x", "y", "secret"]) {
    const [one, other] = await reading(name, "alice");
    expect(one).toBe(other);
    expect(one).toContain('"ENTRY_NOT_FOUND"');
  }
  expect(await reading("missing", "bob")).toEqual(await reading("missing", "nobody"));
  // An invalid id gets the same refusal, whoever has a folder.
  for (const userId of ["../bob", "bob/memory", "bob\u0000", "..", " bob"]) {
    const [one, other] = await reading("x", userId);
    expect(one).toBe(other);
  }
});
