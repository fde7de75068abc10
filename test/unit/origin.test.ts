/** What a program says about the origin of a call: copied exactly, or refused with what is wrong. */
import { runInNewContext } from "node:vm";

import { expect, test } from "vitest";

import { checkContext, namesIn, readContext } from "../../host/values/call-context.ts";
import { readOrigin } from "../../host/values/origin.ts";
import type { OriginClass } from "../../shared/origin.ts";

const full = { class: "tool_external", run: "run 7", turn: "~", source: "https://example.com/?q=a b" } as const;

/** The context of a caller without types. */
const asked = (more: object) => readContext({ userId: "alice", ...more });

test("copies an origin once, with all its fields, and freezes it", () => {
  let reads = 0;
  const own = {
    get class() {
      reads++;
      return reads === 1 ? "direct_user" : 7;
    },
    run: "r",
  };
  const read = readOrigin(own);
  own.run = "other";
  expect(read).toEqual({ class: "direct_user", run: "r" });
  expect(reads).toBe(1);
  expect(Object.isFrozen(read)).toBe(true);
  expect(readOrigin(full)).toEqual(full);
});

test.for([
  {
    name: "the longest texts",
    origin: { ...full, run: "r".repeat(128), turn: "t".repeat(64), source: "s".repeat(512) },
  },
  { name: "undefined texts", origin: { class: "unstated", run: undefined, turn: undefined, source: undefined } },
  { name: "no prototype", origin: Object.assign(Object.create(null) as object, { class: "owner_edit" }) },
])("takes an origin with $name", ({ origin }) => {
  const { class: of } = origin as { class: OriginClass };
  expect(readOrigin(origin)).toMatchObject({ class: of });
  expect(checkContext(asked({ origin })).origin).toMatchObject({ class: of, told: true });
});

class Origin {
  class = "direct_user";
}

const throwing = new Proxy(
  {},
  {
    ownKeys() {
      throw new Error("looked at");
    },
  },
);
const throwingGetter = {
  get class(): string {
    throw new Error("read");
  },
};

const { proxy: revoked, revoke } = Proxy.revocable({}, {});
revoke();

const misspelt = { class: "direct_user", sorce: "x" };
const unreadable = "an object that cannot be read";

test.for([
  { name: "null", origin: null, value: "null" },
  { name: "a text", origin: "direct_user", value: "of type string" },
  { name: "an array", origin: ["direct_user"], value: "no plain object" },
  { name: "an instance of a class", origin: new Origin(), value: "no plain object" },
  {
    name: "an object of another realm",
    origin: runInNewContext("({ class: 'direct_user' })"),
    value: "no plain object",
  },
  // oxlint-disable-next-line no-proto -- what a caller may write
  { name: "an inherited class", origin: { __proto__: { class: "direct_user" } }, value: "no plain object" },
  { name: "a proxy that throws", origin: throwing, value: unreadable },
  { name: "a revoked proxy", origin: revoked, value: unreadable },
  { name: "a getter that throws", origin: throwingGetter, value: unreadable },
  { name: "no class", origin: {}, value: "an object without a class" },
  { name: "a class of null", origin: { class: null }, value: "an object with the class null" },
  { name: "an unknown class", origin: { class: "system\n" }, value: 'an object with the class "system\\n"' },
  { name: "a class in capitals", origin: { class: "OWNER_EDIT" }, value: 'an object with the class "OWNER_EDIT"' },
  { name: "a class in a list", origin: { class: ["owner_edit"] }, value: "an object with the class of type object" },
  { name: "a name of a built-in as class", origin: { class: "length" }, value: 'an object with the class "length"' },
  { name: "a misspelt field", origin: misspelt, value: 'an object with the field "sorce" (did you mean "source"?)' },
  {
    name: "a built-in's name",
    origin: { class: "unstated", toString: 1 },
    value: 'an object with the field "toString" (did you mean "turn"?)',
  },
  {
    name: "its own __proto__",
    origin: JSON.parse('{ "class": "unstated", "__proto__": {} }') as object,
    value: 'an object with the field "__proto__" (did you mean "run"?)',
  },
  {
    name: "trust of its own",
    origin: { ...full, trust: 1 },
    value: 'an object with the field "trust" (did you mean "run"?)',
  },
  { name: "an empty run", origin: { ...full, run: "" }, value: 'an object whose "run" is empty' },
  {
    name: "a long run",
    origin: { ...full, run: "r".repeat(129) },
    value: 'an object whose "run" is 129 characters long',
  },
  {
    name: "a long turn",
    origin: { ...full, turn: "t".repeat(65) },
    value: 'an object whose "turn" is 65 characters long',
  },
  { name: "a turn of a number", origin: { ...full, turn: 3 }, value: 'an object whose "turn" is of type number' },
  {
    name: "a long source",
    origin: { ...full, source: "s".repeat(513) },
    value: 'an object whose "source" is 513 characters long',
  },
  {
    name: "a source of two lines",
    origin: { ...full, source: "a\n" },
    value: 'an object whose "source" is not printable ASCII',
  },
  {
    name: "a source in Cyrillic",
    origin: { ...full, source: "\u043e" },
    value: 'an object whose "source" is not printable ASCII',
  },
])("refuses an origin that is or has $name", ({ origin, value }) => {
  expect(readOrigin(origin)).toBe(value);
  const context = asked({ origin });
  expect(namesIn(context)).toMatchObject({ userId: "alice", origin: null });
  expect(() => checkContext(context, "call Puppet")).toThrow(
    expect.objectContaining({
      code: "INPUT_INVALID",
      message: expect.stringContaining(
        `Cannot call Puppet: ctx.origin is ${value}, allowed: an object with a class (`,
      ) as string,
      issues: [expect.objectContaining({ field: "ctx.origin", value })],
    }),
  );
});

test("an origin of which nothing is enumerable has no class", () => {
  expect(readOrigin(Object.defineProperty({}, "class", { value: "owner_edit" }))).toBe("an object without a class");
});

test("what Object.prototype has is no part of an origin", () => {
  try {
    Object.assign(Object.prototype, { source: "planted" });
    expect(Object.keys(readOrigin({ class: "direct_user" }) as object)).toEqual(["class"]);
  } finally {
    Reflect.deleteProperty(Object.prototype, "source");
  }
});
