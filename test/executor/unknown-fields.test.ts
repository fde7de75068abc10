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

const logFile = join(folder.path, "a.jsonl");

test.for<readonly [options: object, name: string, nearest: string]>([
  [{ readonly: true }, "readonly", "readOnly"],
  [{ auditLog: { file: logFile, onfailure: "continue" } }, "onfailure", "onFailure"],
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
    onWrite = (): "raise" => "raise";
  }
  await using created = await createRuntime(Object.create(new Raising()) as Raising);
  const result = await created.call("UpdateUserMemory", entry, alice);
  expect(result).toMatchObject({ ok: false, error: { code: "WRITE_PENDING" } });
});

test("what is undefined and what a symbol names are no options, and no fields of a context", async () => {
  const extra = { readonly: undefined, [Symbol("own")]: true, store: memoryStore(), threadsMax: 1 };
  await using created = await createRuntime(extra);
  expect(await created.memoryIndex({ ...alice, callid: undefined, [Symbol("trace")]: 1 } as CallContext)).toBe("");
});

test.for<readonly [ctx: object, name: string, nearest: string]>([
  [{ exposed: ["tool_external"] }, "exposed", "exposedTo"],
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

test("a user of another spelling and an unknown field of a store are named", async () => {
  const nobody = await runtime.call("UpdateUserMemory", entry, { user_id: "alice" } as never);
  expect(messageOf(nobody)).toContain('ctx has the unknown field "user_id"; did you mean "userId"?');
  const store = { id: "6f0c8a1e-0000-4000-8000-000000000000", kind: "chat", Level: "read" } as never;
  const other = await runtime.call("UpdateUserMemory", entry, { ...alice, stores: [store] });
  expect(messageOf(other)).toContain('ctx.stores is an array with the field "Level" (did you mean "level"?)');
});

const file = { scope: "memory", path: "a.md", content: new Uint8Array() };
const history = new RunHistory({ callAsHost: (...given) => runtime.callAsHost(...given) }, alice);
const events = [newEvent(undefined, userMessageData({ message: "x" }))];
const stores = () => runtime.stores(alice);
/** For programs without types. */
const spelt = (options: object): never => options as never;

test.for<readonly [what: string, ask: () => unknown, message: string]>([
  ["fileStore", () => fileStore(spelt({ dir: dataDir, durable: "full" })), '"durable"; did you mean "durability"?'],
  ["postgresStore", () => postgresStore(spelt({ url: "postgres://h/d", connections: 3 })), '"connectionsMax"?'],
  ["memoryStore", () => (memoryStore as (options: object) => unknown)({ dir: "data" }), "takes no options"],
  ["CredentialDetector", () => new CredentialDetector(spelt({ deadline: 10 })), 'did you mean "deadlineMs"?'],
  ["memoryIndex", () => runtime.memoryIndex(alice, spelt({ Family: "x" })), '"Family"; did you mean "family"?'],
  ["memoryEntries", () => runtime.memoryEntries(alice, spelt({ forprompt: true })), 'did you mean "forPrompt"?'],
  ["readEntry", () => runtime.readEntry(spelt({ name: "tea", famly: "x" }), alice), 'did you mean "family"?'],
  ["tools", () => runtime.tools(spelt({ Format: "openai" })), '"Format"; did you mean "format"?'],
  ["grant", () => stores().grant("bob", spelt({ expiresat: 1 })), 'did you mean "expiresAt"?'],
  ["setInternal", () => stores().setInternal(null, "k", 1, spelt({ TTL: 1 })), 'did you mean "ttl"?'],
  ["getInternal", () => stores().getInternal(null, "k", spelt({ ns: "x" })), '"namespace"?'],
  ["restore", () => runtime.upkeep.restore(alice, "tea", spelt({ scopes: "memory" })), 'did you mean "scope"?'],
  ["purge", () => runtime.upkeep.purge(alice, spelt({ beforeMs: 0 })), 'did you mean "beforeEpochMs"?'],
  ["history", () => runtime.upkeep.history(alice, spelt({ pth: "x" })), 'did you mean "path"?'],
  ["diff", () => runtime.upkeep.diff(alice, "tea", spelt({ From: 1 })), 'did you mean "from"?'],
  ["restoreVersion", () => runtime.upkeep.restoreVersion(alice, "tea", spelt({ seq: 1 })), 'unknown option "seq"'],
  ["planUndo", () => runtime.upkeep.planUndo(alice, spelt({ runs: "r" })), 'did you mean "run"?'],
  ["undo", () => runtime.upkeep.undo(alice, spelt({ run: "r", Since: new Date() })), 'did you mean "since"?'],
  ["export", () => runtime.upkeep.export(alice, spelt({ scope: ["memory"] })), 'did you mean "scopes"?'],
  ["erase", () => runtime.upkeep.erase(alice, spelt({ exports: "x.zip" })), 'did you mean "export"?'],
  ["planImport", () => runtime.upkeep.planImport(alice, [], spelt({ replaces: true })), 'did you mean "replace"?'],
  ["import", () => runtime.upkeep.import(alice, [], spelt({ Replace: true })), 'did you mean "replace"?'],
  ["an imported file", () => runtime.upkeep.import(alice, [spelt({ ...file, trusted: "x" })]), 'did you mean "trust"?'],
  ["append", () => history.append("planner", "run-1", events, spelt({ appendid: "a" })), 'did you mean "appendId"?'],
  [
    "a context of a RunHistory",
    () => new RunHistory(runtime, spelt({ ...alice, callid: "c" })).load("a", "b"),
    "callId",
  ],
])("%s refuses an unknown option", async ([, ask, message]) => {
  await expect(Promise.resolve().then(ask)).rejects.toThrow(message);
});
