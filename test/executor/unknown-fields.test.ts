/** What a program has misspelt is refused with the nearest name: an ignored `readonly` would write. */
import { existsSync } from "node:fs";
import { join } from "node:path";

import { createRuntime, CredentialDetector, fileStore, memoryStore, postgresStore } from "memcell";
import type { CallContext, Runtime, RuntimeOptions, ToolResult } from "memcell";
import { newEvent, RunHistory, userMessageData } from "memcell/run-history";
import { afterAll, beforeAll, expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
let runtime: Runtime;
beforeAll(async () => {
  const plugins = ["user-memory", "run-history", "stores"];
  runtime = await createRuntime({ store: memoryStore(), plugins, threadsMax: 1 });
});
afterAll(async () => {
  await runtime.close();
  folder[Symbol.dispose]();
});

const entry = { action: "upsert", name: "tea", type: "user", description: "Likes tea", body: "Green" } as const;
const dataDir = join(folder.path, "data");
const alice = { userId: "alice" };

const messageOf = (result: ToolResult): string => (result.ok ? "" : result.error.message);

class Options {
  readonly dataDir = dataDir;
  readonly readonly = true;
}

test.for<readonly [options: object, name: string, nearest: string]>([
  [{ readonly: true }, "readonly", "readOnly"],
  [{ auditlog: { file: join(folder.path, "a.jsonl") } }, "auditlog", "auditLog"],
  [{ auditLog: { file: join(folder.path, "a.jsonl"), onfailure: "continue" } }, "onfailure", "onFailure"],
  [{ plugin: ["journal"] }, "plugin", "plugins"],
  [{ memory: { sharingbymodels: true } }, "sharingbymodels", "sharingByModels"],
  [{ mounts: [{ userId: "alice", scope: "memory", dir: folder.path, readOnly: true }] }, "readOnly", "scope"],
  [{ hasOwnProperty: 1 }, "hasOwnProperty", "onWrite"],
  [{ ["__proto__"]: 1 }, "__proto__", "store"],
  [Object.create({ readonly: true }) as object, "readonly", "readOnly"],
  [new Options(), "readonly", "readOnly"],
])("createRuntime refuses %j", async ([options, name, nearest]) => {
  const all = Object.assign(options, { dataDir });
  const refused = await createRuntime(all as RuntimeOptions).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(TypeError);
  expect((refused as Error).message).toContain(`unknown option "${name}"; did you mean "${nearest}"?`);
  expect(existsSync(dataDir)).toBe(false);
});

test("an option that is inherited counts like one of its own", async () => {
  class Raising {
    readonly store = memoryStore();
    readonly threadsMax = 1;
    onWrite(): "raise" {
      return "raise";
    }
  }
  const options = [new Raising(), Object.create(new Raising()) as Raising];
  for (const each of options) {
    const created = await createRuntime(each);
    const result = await created.call("UpdateUserMemory", entry, alice);
    expect(result).toMatchObject({ ok: false, error: { code: "WRITE_PENDING" } });
    await created.close();
  }
});

test("what is undefined, what a symbol names and what every object has are no options", async () => {
  const extra = { readonly: undefined, [Symbol("own")]: true, dataDir, threadsMax: 1 };
  const created = await createRuntime(extra);
  expect(await created.memoryIndex(alice)).toBe("");
  await created.close();
});

test.for<readonly [what: string, make: () => unknown, message: string]>([
  [
    "fileStore",
    () => fileStore({ dir: dataDir, durable: "full" } as never),
    'fileStore: unknown option "durable"; did you mean "durability"?',
  ],
  [
    "postgresStore",
    () => postgresStore({ url: "postgres://h/d", connections: 3 } as never),
    'postgresStore: unknown option "connections"; did you mean "connectionsMax"?',
  ],
  [
    "memoryStore",
    () => (memoryStore as (options: object) => unknown)({ dir: "data" }),
    "memoryStore keeps nothing on a disk and takes no options",
  ],
  [
    "CredentialDetector",
    () => new CredentialDetector({ deadline: 10 } as never),
    'CredentialDetector: unknown option "deadline"; did you mean "deadlineMs"?',
  ],
])("%s refuses an unknown option", ([, make, message]) => {
  expect(make).toThrow(TypeError);
  expect(make).toThrow(message);
});

test.for<readonly [ctx: object, name: string, nearest: string]>([
  [{ callid: "c-1" }, "callid", "callId"],
  [{ exposed: ["tool_external"] }, "exposed", "exposedTo"],
  [{ store: [] }, "store", "stores"],
  [{ requestId: "r-1" }, "requestId", "userId"],
  [Object.create({ Signal: 1 }) as object, "Signal", "signal"],
])("a context with %j is refused, by every way in", async ([fields, name, nearest]) => {
  const ctx: CallContext = Object.assign(fields, alice);
  const said = `ctx has the unknown field "${name}"; did you mean "${nearest}"? Expected only userId, signal, callId`;
  const result = await runtime.call("UpdateUserMemory", entry, ctx);
  expect(result).toMatchObject({ ok: false, error: { code: "INPUT_INVALID" } });
  expect(messageOf(result)).toContain(`Cannot call a tool: ${said}`);
  expect(messageOf(result)).toContain("facts of your own go into ctx.labels");
  const others = [
    runtime.memoryIndex(ctx),
    runtime.memoryEntries(ctx),
    runtime.readEntry({ name: "tea", family: "user-memory" }, ctx),
    runtime.upkeep.inspect(ctx),
    runtime.stores(ctx).list(),
    runtime.stores(ctx).getInternal(null, "key"),
  ];
  for (const each of others) await expect(each).rejects.toThrow(said);
  expect(await runtime.memoryIndex(alice)).toBe("");
});

test("so is a context of a RunHistory", async () => {
  const ctx = { ...alice, callid: "c-1" };
  const said = 'ctx has the unknown field "callid"; did you mean "callId"?';
  await expect(new RunHistory(runtime, ctx).load("planner", "run-1")).rejects.toThrow(said);
});

test("a context without a user that names one otherwise says how it is spelt", async () => {
  const result = await runtime.call("UpdateUserMemory", entry, { user_id: "alice" } as never);
  expect(messageOf(result)).toContain('ctx has the unknown field "user_id"; did you mean "userId"?');
});

test("a field of a context that is undefined is missing", async () => {
  const ctx = { ...alice, callid: undefined, [Symbol("trace")]: 1 };
  expect(await runtime.memoryIndex(ctx)).toBe("");
});

test("origins and stores of a context have known fields only", async () => {
  const origin = { class: "tool_external", Run: "r" } as never;
  const mistaken = await runtime.call("UpdateUserMemory", entry, { ...alice, origin });
  expect(messageOf(mistaken)).toContain('ctx.origin is an object with the field "Run" (did you mean "run"?)');
  const store = { id: "6f0c8a1e-0000-4000-8000-000000000000", kind: "chat", Level: "read" } as never;
  const other = await runtime.call("UpdateUserMemory", entry, { ...alice, stores: [store] });
  expect(messageOf(other)).toContain('ctx.stores is an array with the field "Level" (did you mean "level"?)');
});

const file = { scope: "memory", path: "a.md", content: new Uint8Array() };

test.for<readonly [what: string, ask: () => unknown, message: string]>([
  ["memoryIndex", () => runtime.memoryIndex(alice, { Family: "x" } as never), '"Family"; did you mean "family"?'],
  [
    "memoryEntries",
    () => runtime.memoryEntries(alice, { forprompt: true } as never),
    '"forprompt"; did you mean "forPrompt"?',
  ],
  ["readEntry", () => runtime.readEntry({ name: "tea", famly: "x" } as never, alice), 'did you mean "family"?'],
  ["tools", () => runtime.tools({ Format: "openai" } as never), '"Format"; did you mean "format"?'],
  ["grant", () => runtime.stores(alice).grant("bob", { expiresat: 1 } as never), 'did you mean "expiresAt"?'],
  ["setInternal", () => runtime.stores(alice).setInternal(null, "k", 1, { TTL: 1 } as never), 'did you mean "ttl"?'],
  ["getInternal", () => runtime.stores(alice).getInternal(null, "k", { ns: "x" } as never), '"namespace"?'],
  ["restore", () => runtime.upkeep.restore(alice, "tea", { scopes: "memory" } as never), 'did you mean "scope"?'],
  ["purge", () => runtime.upkeep.purge(alice, { beforeMs: 0 } as never), 'did you mean "beforeEpochMs"?'],
  ["history", () => runtime.upkeep.history(alice, { name: "x" } as never), 'unknown option "name"'],
  ["diff", () => runtime.upkeep.diff(alice, "tea", { From: 1 } as never), 'did you mean "from"?'],
  [
    "restoreVersion",
    () => runtime.upkeep.restoreVersion(alice, "tea", { seq: 1 } as never),
    'restoreVersion(): unknown option "seq"',
  ],
  ["planUndo", () => runtime.upkeep.planUndo(alice, { runs: "r" } as never), 'did you mean "run"?'],
  ["undo", () => runtime.upkeep.undo(alice, { run: "r", Since: new Date() } as never), 'did you mean "since"?'],
  ["export", () => runtime.upkeep.export(alice, { scope: ["memory"] } as never), 'did you mean "scopes"?'],
  ["erase", () => runtime.upkeep.erase(alice, { exports: "x.zip" } as never), 'did you mean "export"?'],
  ["planImport", () => runtime.upkeep.planImport(alice, [], { replaces: true } as never), 'did you mean "replace"?'],
  ["import", () => runtime.upkeep.import(alice, [], { Replace: true } as never), 'did you mean "replace"?'],
  [
    "an imported file",
    () => runtime.upkeep.import(alice, [{ ...file, trusted: "tool_external" } as never]),
    'An imported file: unknown option "trusted"; did you mean "trust"?',
  ],
  [
    "append",
    () =>
      new RunHistory(runtime, alice).append(
        "planner",
        "run-1",
        [newEvent(undefined, userMessageData({ message: "x" }))],
        {
          appendid: "a",
        } as never,
      ),
    'append has the unknown option "appendid"; did you mean "appendId"?',
  ],
])("%s refuses an unknown option", async ([, ask, message]) => {
  await expect(Promise.resolve().then(ask)).rejects.toThrow(message);
});

test("an entry of a list can be read as it is", async () => {
  const own = { userId: "bob" };
  expect((await runtime.call("UpdateUserMemory", entry, own)).ok).toBe(true);
  const [listed] = await runtime.memoryEntries(own);
  expect(listed && (await runtime.readEntry(listed, own)).body).toBe("Green");
});
