/**
 * Answers to a guest, a model and a caller do not depend on anything outside: the answer about a path, a scope, an
 * entry or a user is the same to the byte, whether the thing exists or not.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import type { Runtime } from "memcell";
import { afterAll, beforeAll, expect, test } from "vitest";

import { bindCapabilities } from "../../host/guest/capabilities/bind-capabilities.ts";
import { StagedChanges } from "../../host/guest/capabilities/staged-changes.ts";
import { openFileReaders } from "../stage/store.ts";
import type { UserId } from "../stage/store.ts";
import { fullGrant } from "../support/full-grant.ts";
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
  writeFileSync(join(rich.path, "data/users/alice/memory/a b.md"), fact);
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

/** The exact bytes that the guest receives: a denied call's result would show only the first denial. */
function replies(dataDir: string, scope: string, path: string): string[] {
  return capabilities.map((name) => {
    using store = openFileReaders({ kind: "files", dir: dataDir, mounts: [] }).openUser("alice" as UserId);
    const call = { grant: fullGrant("alice" as UserId), store, staged: new StagedChanges(), epochMs: 0 };
    const rest = name === "store_list" ? { prefix: path } : { path, ...(name === "store_write" && { content: "x" }) };
    return bindCapabilities(call, { denial: null, reported: new Set(), causes: [] })[name](
      JSON.stringify({ scope, ...rest }),
    );
  });
}

const outsidePaths = [
  "../../bob/memory/x.md",
  "../bob/memory/x.md",
  "../../../x.md",
  "../../../../secret",
  "../journal/x.md",
  "../.memcell/owner",
  "../.memcell/lock",
  ".hidden/x.md",
  ".hidden",
  "a b.md",
  "a.md/../../../bob/memory/x.md",
  "/etc/passwd",
  "/etc/no-such-file",
  "/proc/self/environ",
  "..",
  ".",
];

test.for(outsidePaths.map((path) => ({ path })))("the answer about $path reveals nothing", async ({ path }) => {
  const [one, other] = worlds.map((dataDir) => replies(dataDir, "memory", path));
  expect(one).toEqual(other);
  for (const reply of one ?? []) expect(reply).toContain('"CAPABILITY_DENIED"');
  for (const of of capabilities) {
    const request = of === "store_list" ? { scope: "memory", prefix: path } : { scope: "memory", path };
    const step = { of, request: JSON.stringify(of === "store_write" ? { ...request, content: "x" } : request) };
    const results = await Promise.all(runtimes.map((each) => each.call("Puppet", [step], { userId: "alice" })));
    expect(JSON.stringify(results[0])).toBe(JSON.stringify(results[1]));
  }
});

test.for(["journal", "bob", "../bob/memory", ".memcell", "no-such-scope"].map((scope) => ({ scope })))(
  "the answer about the scope $scope reveals nothing",
  ({ scope }) => {
    const [one, other] = worlds.map((dataDir) => replies(dataDir, scope, "x.md"));
    expect(one).toEqual(other);
  },
);

test("two denials of paths differ only in the path that the guest named", () => {
  const [dataDir = ""] = worlds;
  const paths = [
    "../../bob/memory/x.md",
    "../../bob/memory/y.md",
    "../../eve/memory/x.md",
    "/etc/passwd",
    "/etc/passwx",
  ];
  const forms = paths.map((path) => replies(dataDir, "memory", path).map((reply) => reply.replaceAll(path, "PATH")));
  for (const form of forms) expect(form).toEqual(forms[0]);
});

test("a listing shows only paths that a guest could name", () => {
  for (const dataDir of worlds) {
    expect(replies(dataDir, "memory", "")[1]).toMatch(
      /^\{"ok":true,"entries":\[\{"path":"a\.md","bytes":8,"changedUs":\d+\}\]\}$/,
    );
  }
});

test("another user's entry, a missing entry, and an entry of a missing user look the same to a reader", async () => {
  for (const name of ["x", "y", "secret"]) {
    const results = await Promise.all(
      runtimes.map((each) => each.call("ReadUserMemory", { name }, { userId: "alice" })),
    );
    expect(JSON.stringify(results[0])).toBe(JSON.stringify(results[1]));
    expect(results[0]).toMatchObject({ ok: false, error: { code: "ENTRY_NOT_FOUND" } });
  }
  const [runtime] = runtimes;
  const asBob = await runtime?.call("ReadUserMemory", { name: "missing" }, { userId: "bob" });
  const asNobody = await runtime?.call("ReadUserMemory", { name: "missing" }, { userId: "nobody" });
  expect(JSON.stringify(asBob)).toBe(JSON.stringify(asNobody));
});

test("an invalid id gets the same refusal, whoever has a folder", async () => {
  for (const userId of ["../bob", "bob/memory", "bob\u0000", "..", " bob"]) {
    const results = await Promise.all(runtimes.map((each) => each.call("ReadUserMemory", { name: "x" }, { userId })));
    expect(JSON.stringify(results[0])).toBe(JSON.stringify(results[1]));
  }
});
