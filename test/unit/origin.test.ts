/** What a program says about the origin of a call, and what the model has seen: copied exactly, or refused with what is wrong. */
import { runInNewContext } from "node:vm";

import type { CallContext, OriginClass } from "memcell";
import { afterAll, expect, test } from "vitest";

import { originClasses } from "../../shared/origin.ts";
import { openStage } from "../stage/runtime.ts";

const stage = await openStage({ plugins: ["user-memory"], threadsMax: 1 });
afterAll(() => stage[Symbol.asyncDispose]());

const full = { class: "tool_external", run: "run 7", turn: "~", source: "https://example.com/?q=a b" } as const;

/** A call of a program without types, and the origin that is recorded of it. */
async function told(more: object): Promise<unknown> {
  const userId = stage.user();
  const ctx = Object.defineProperties({ userId }, Object.getOwnPropertyDescriptors(more)) as CallContext;
  const result = await stage.runtime.call("SearchUserMemory", {}, ctx);
  const [record] = stage.records(userId);
  if (!result.ok) return result.error;
  return record?.kind === "call" ? record.origin : expect.fail("There is no record of the call");
}

test.for<readonly [name: string, more: object, record: object | undefined]>([
  ["undefined", { origin: undefined, exposedTo: undefined }, undefined],
  ["undefined texts", { origin: { class: "unstated", run: undefined, source: undefined } }, { class: "unstated" }],
  ["an object without prototype", { origin: Object.assign(Object.create(null) as object, full) }, full],
  ["only exposure", { exposedTo: ["tool_external"] }, { class: "unstated", exposedTo: ["tool_external"] }],
  [
    "each class once",
    { origin: full, exposedTo: ["direct_user", "tool_external", "direct_user"] },
    { ...full, exposedTo: ["direct_user", "tool_external"] },
  ],
  [
    "16 classes",
    { exposedTo: Array.from({ length: 16 }, () => "unstated") },
    { class: "unstated", exposedTo: ["unstated"] },
  ],
])("records %s", async ([, more, record]) => {
  expect(await told(more)).toEqual(record);
});

test("reads an origin and an exposure once, and what changes behind the call does not count", async () => {
  let reads = 0;
  const origin = {
    get class() {
      return reads++ === 0 ? "direct_user" : 7;
    },
    run: "r",
  };
  const exposedTo: OriginClass[] = ["direct_user"];
  const answer = told({ origin, exposedTo });
  origin.run = "other";
  exposedTo.push("untrusted_document");
  expect(await answer).toEqual({ class: "direct_user", run: "r", exposedTo: ["direct_user"] });
  expect(reads).toBe(1);
});

const throwing = (): never => {
  throw new Error("read");
};
const unreadable = "an object that cannot be read";
const text = (field: string, what: string): string => `an object whose "${field}" is ${what}`;
const unknown = (field: string, nearest: string): string =>
  `an object with the field "${field}" (did you mean "${nearest}"?)`;

test.for<readonly [name: string, origin: unknown, value: string]>([
  ["null", null, "null"],
  ["an object of another realm", runInNewContext("({ class: 'direct_user' })"), "no plain object"],
  ["an inherited class", Object.create({ class: "direct_user" }), "no plain object"],
  ["a proxy that throws", new Proxy({}, { ownKeys: throwing }), unreadable],
  ["a getter that throws", Object.defineProperty({}, "class", { get: throwing, enumerable: true }), unreadable],
  ["no class", {}, "an object without a class"],
  ["a class that is not enumerable", Object.defineProperty({}, "class", { value: "owner_edit" }), "without a class"],
  ["an unknown class", { class: "system\n" }, 'an object with the class "system\\n"'],
  ["a misspelt field", { class: "direct_user", sorce: "x" }, unknown("sorce", "source")],
  ["its own __proto__", JSON.parse('{ "class": "unstated", "__proto__": {} }'), unknown("__proto__", "run")],
  ["trust of its own", { ...full, trust: 1 }, unknown("trust", "run")],
  ["an empty run", { ...full, run: "" }, text("run", "empty")],
  ["a long run", { ...full, run: "r".repeat(129) }, text("run", "129 characters long")],
  ["a source of two lines", { ...full, source: "a\n" }, text("source", "not printable ASCII")],
])("refuses an origin that is or has %s", async ([, origin, value]) => {
  expect(await told({ origin })).toMatchObject({
    code: "INPUT_INVALID",
    message: expect.stringMatching(/: ctx\.origin is .*, allowed: an object with a class \(/),
    issues: [{ field: "ctx.origin", value: expect.stringContaining(value) as string }],
  });
});

const lengthOf = (length: unknown): unknown =>
  new Proxy([], { get: (target, name) => (name === "length" ? length : (Reflect.get(target, name) as unknown)) });
const ofClass = (what: string): string => `an array with the class ${what}`;

test.for<readonly [name: string, exposedTo: unknown, value: string]>([
  ["null", null, "null"],
  ["a set", new Set(["tool_external"]), "of type object"],
  ["17 classes", Array.from({ length: 17 }, () => "direct_user"), "an array of 17 classes"],
  ["an unknown class", ["direct_user", "web"], ofClass('"web"')],
  ["an item that throws", Object.defineProperty(["direct_user"], 0, { get: throwing }), unreadable],
  ["a proxy without a length", lengthOf(Number.NaN), "an array of NaN classes"],
])("refuses exposure that is or has %s", async ([, exposedTo, value]) => {
  expect(await told({ origin: full, exposedTo })).toMatchObject({
    code: "INPUT_INVALID",
    message: expect.stringContaining(`ctx.exposedTo is ${value}, allowed: an array of at most 16 classes (`),
    issues: [{ field: "ctx.exposedTo", value }],
  });
});

test("a context whose origin cannot be read at all fails, and names nobody", async () => {
  const ctx = Object.defineProperty({ userId: "nobody" }, "origin", { get: throwing });
  expect(await stage.runtime.call("SearchUserMemory", {}, ctx)).toMatchObject({ error: { code: "INTERNAL" } });
  expect(stage.records("nobody")).toEqual([]);
});

test("an entry is trusted as the lowest of what is said", async () => {
  const userId = stage.user();
  const pairs = originClasses.flatMap((of) => originClasses.map((seen) => [of, seen] as const));
  // Above what waits for its owner.
  const least = originClasses.indexOf("unstated");
  for (const [of, seen] of pairs) {
    const lowest = Math.max(originClasses.indexOf(of), originClasses.indexOf(seen));
    const entry = { action: "upsert", name: `${of}-${seen}`, type: "user", description: "d", body: "b" };
    const result = await stage.runtime.call("UpdateUserMemory", entry, {
      userId,
      origin: { class: of },
      exposedTo: [seen],
    });
    expect(result.ok).toBe(lowest <= least);
    if (!result.ok) continue;
    const { origins } = await stage.runtime.readEntry({ name: entry.name, family: "user-memory" }, { userId });
    expect(origins?.[0]?.trust ?? "own").toBe(lowest <= 1 ? "own" : originClasses[lowest]);
  }
});
