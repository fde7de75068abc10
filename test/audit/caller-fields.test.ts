/** Labels and origins that a caller adds to its records: they are recorded exactly, or the call is refused. */
import { readFileSync } from "node:fs";
import { runInNewContext } from "node:vm";

import type { CallContext } from "memcell";
import { afterAll, beforeEach, expect, test } from "vitest";

import { blocksIn } from "../documents/markdown-table.ts";
import { textOf } from "../documents/tracked-files.ts";
import type { CallEntry } from "../stage/audit-log.ts";
import { ask, openAuditedStage, upsert, write } from "./audited-stage.ts";
import { verify } from "./written-log.ts";

const lines: string[] = [];
const stage = await openAuditedStage({ onLog: ({ text }) => lines.push(text) });
const { runtime } = stage;
const { upkeep } = runtime;
afterAll(() => stage[Symbol.asyncDispose]());

let userId: string;
beforeEach(() => {
  userId = stage.user();
});
/** The test's context with a call id of this test alone. */
const as = (callId: string): CallContext & { callId: string } => ({ userId, callId: `${userId}-${callId}` });
const recordsOf = (callId: string) =>
  stage.records(userId).filter((record) => "callId" in record && record.callId === as(callId).callId);

const labels = { movement: "3", agent: "needle", "model.name_1-x": "a b ~" };
const origin = { class: "tool_external", run: "run-7", turn: "3", source: "https://example.com/needle" } as const;
const exposedTo = ["direct_user", "tool_external"] as const;
const told = { labels, origin, exposedTo };

test("records them with a call, with what it stages and with upkeep and its calls, and nowhere else", async () => {
  const calls: readonly (readonly [kinds: readonly string[], call: (ctx: CallContext) => Promise<unknown>])[] = [
    [["staged", "call"], (ctx) => runtime.call("UpdateUserMemory", upsert("a"), ctx)],
    [["use", "call"], (ctx) => runtime.call("Puppet", [ask("store_read", { scope: "x", path: "a" })], ctx)],
    [["call"], (ctx) => runtime.memoryIndex(ctx)],
    [["staged", "call"], (ctx) => runtime.call("UpdateUserMemory", { action: "delete", name: "a" }, ctx)],
    [["call", "staged", "upkeep"], (ctx) => upkeep.restore(ctx, "a")],
    [["staged", "call"], (ctx) => runtime.call("UpdateUserMemory", { action: "delete", name: "a" }, ctx)],
    [["staged", "upkeep"], (ctx) => upkeep.purge(ctx, { beforeEpochMs: 9e15 })],
  ];
  for (const [at, [kinds, call]] of calls.entries()) {
    const isTold = at !== 3;
    await call({ ...as(`${at}`), ...(isTold && told) });
    const records = recordsOf(`${at}`);
    expect(records.map(({ kind }) => kind)).toEqual(kinds);
    for (const record of records) {
      if (isTold && record.kind !== "use") expect(record).toMatchObject({ labels, origin: { ...origin, exposedTo } });
      else expect("labels" in record || "origin" in record).toBe(false);
    }
  }
});

const readme = blocksIn(textOf("host/audit/README.md")).find(({ text }) => text.startsWith('"origin"'))?.text;
const { origin: documented } = JSON.parse(`{${readme}}`) as { origin: NonNullable<CallEntry["origin"]> };
const { exposedTo: documentedExposure, ...documentedOrigin } = documented;
const most = Object.fromEntries(
  Array.from({ length: 16 }, (_, at) => [`${at}`.padStart(64, "n"), at === 0 ? "" : "~".repeat(256)]),
);
const odd = JSON.parse('{ "__proto__": "a", "constructor": "b", "hasownproperty": "c" }') as Record<string, string>;

// All forms of an origin are in test/unit/origin.test.ts.
test.for<readonly [name: string, ctx: Partial<CallContext>, record: Pick<CallEntry, "origin" | "labels">]>([
  ["the README's origin", { origin: documentedOrigin, exposedTo: documentedExposure }, { origin: documented }],
  ["the largest labels", { labels: most }, { labels: most }],
  ["labels named as properties of all objects", { labels: odd }, { labels: odd }],
  ["no labels", { labels: undefined }, {}],
])("records what was told and no more: %s", async ([, ctx, record]) => {
  expect(await runtime.call("Puppet", [write("a", "")], { ...as("1"), ...ctx })).toMatchObject({ ok: true });
  // As it is written: a parser with a schema leaves out a "__proto__".
  const line = readFileSync(stage.logFile, "utf8").trimEnd().split("\n").at(-1) ?? "";
  const { origin: from, labels: named } = JSON.parse(line) as CallEntry;
  expect(JSON.stringify([from, named])).toBe(JSON.stringify([record.origin, record.labels]));
  expect(Object.getPrototypeOf({})).toBe(Object.prototype);
  expect((await verify(stage.logFile)).isIntact).toBe(true);
});

const throwing = new Proxy({}, { ownKeys: () => expect.fail("looked at") });
const seventeen = Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`n${at}`, ""]));
const wrongValue = (is: string): string => `an object whose "movement" is ${is}`;

test.for<readonly [name: string, asked: unknown, value: string]>([
  ["null", null, "null"],
  ["an object of another realm", runInNewContext("({ movement: '3' })"), "no plain object"],
  // oxlint-disable-next-line no-proto -- what a caller may write
  ["an object with another prototype", { __proto__: { movement: "3" } }, "no plain object"],
  ["an object that throws when read", throwing, "an object that cannot be read"],
  ["17 names", seventeen, "an object of 17 names"],
  ["a name with a capital", { Movement: "3" }, 'an object with the name "Movement"'],
  ["a name that is too long", { ["n".repeat(65)]: "3" }, `an object with the name "${"n".repeat(60)}…"`],
  ["a nested object", { movement: { at: "3" } }, wrongValue("of type object")],
  ["a text that is too long", { movement: "x".repeat(257) }, wrongValue("257 characters long")],
  ["a line end", { movement: "secret\n" }, wrongValue("not printable ASCII")],
])("refuses labels that are %s and records nothing of them", async ([, asked, value]) => {
  const message = `Cannot call a tool: ctx.labels is ${value}, allowed: an object of at most 16 names`;
  const error = { message: expect.stringContaining(message) as string, issues: [{ value }] };
  expect(await refused({ labels: asked }, "labels")).toMatchObject({ error });
});

test.for<readonly [field: string, more: object]>([
  ["origin", { origin: { ...origin, sorce: "needle" } }],
  ["exposedTo", { origin, exposedTo: ["needle"] }],
])("refuses a wrong %s, changes nothing and records nothing of it", async ([field, more]) => {
  await refused(more, field);
});

async function refused(more: object, field: string): Promise<unknown> {
  const ctx = { ...as("1"), ...more } as CallContext;
  const result = await runtime.call("UpdateUserMemory", upsert("a"), ctx);
  expect(result).toMatchObject({ ok: false, error: { code: "INPUT_INVALID", issues: [{ field: `ctx.${field}` }] } });
  await expect(runtime.memoryIndex(ctx)).rejects.toMatchObject({ code: "INPUT_INVALID" });
  await expect(upkeep.listTrash(ctx)).rejects.toMatchObject({ code: "INPUT_INVALID" });
  expect(stage.filesOf(userId)).toEqual({});
  const records = recordsOf("1");
  expect(records.map(({ kind }) => kind)).toEqual(["call", "call", "upkeep"]);
  for (const record of records) {
    expect(record).toMatchObject({ code: "INPUT_INVALID" });
    expect(JSON.stringify(record)).not.toMatch(/secret|movement|needle|"origin"|"labels"/i);
  }
  return result;
}

test("reads the user and each label once; later changes of the caller's object have no effect", async () => {
  let reads = 0;
  const [users, movements] = [
    [userId, "bob"],
    ["3", "4"],
  ];
  const next = (texts: string[]): string => ((reads += 1), texts.shift() ?? "");
  const turning = {
    ...as("0"),
    get userId() {
      return next(users);
    },
    labels: {
      get movement() {
        return next(movements);
      },
    },
  };
  const plain = { ...as("1"), labels: { movement: "3" } };
  const running = [turning, plain].map((each) => runtime.call("Puppet", [write("a.md", "x")], each));
  plain.labels.movement = "4";
  await Promise.all(running);
  expect(reads).toBe(2);
  for (const each of ["0", "1"]) {
    const record = { userId, labels: { movement: "3" } };
    expect(recordsOf(each)).toMatchObject([record, record]);
  }
  expect(Object.keys(stage.filesOf(userId))).toEqual(["memory/a.md"]);
});

test("no label, and nothing of the origin but its class, reaches a guest, an answer or a user's file", async () => {
  const ctx = { ...as("1"), ...told };
  const results = [
    await runtime.call("UpdateUserMemory", upsert("a"), ctx),
    await runtime.call("ReadUserMemory", { name: "a" }, ctx),
    await runtime.call("Puppet", [write("b.md", "x"), { log: "said", times: 1 }], ctx),
    await runtime.memoryIndex(ctx),
  ];
  expect(lines).toContain("said");
  expect(JSON.stringify([results, stage.filesOf(userId), lines])).not.toMatch(/needle|run-7/);
});
