/** What a program says that a model has seen, and what follows from it and from the origin of a call. */
import { expect, test } from "vitest";

import { checkContext, namesIn, readContext } from "../../host/values/call-context.ts";
import { asTold, readExposedTo, stateOrigin, statedTrust } from "../../host/values/origin.ts";
import { lowestOf, originClasses } from "../../shared/origin.ts";
import type { OriginClass } from "../../shared/origin.ts";

const full = { class: "tool_external", run: "run 7", turn: "~", source: "https://example.com/?q=a b" } as const;
const unreadable = "an object that cannot be read";

/** The context of a caller without types. */
const asked = (more: object) => readContext({ userId: "alice", ...more });

test("copies exposure once, each class once, and freezes it", () => {
  const own: OriginClass[] = ["direct_user", "tool_external", "direct_user"];
  const read = readExposedTo(own);
  own.push("untrusted_document");
  expect(read).toEqual(["direct_user", "tool_external"]);
  expect(Object.isFrozen(read)).toBe(true);
  expect(readExposedTo(Array.from({ length: 16 }, () => "unstated"))).toEqual(["unstated"]);
  expect([readExposedTo(undefined), readExposedTo([])]).toEqual([[], []]);
});

const lengthOf = (length: unknown): unknown =>
  new Proxy([], { get: (target, name) => (name === "length" ? length : (Reflect.get(target, name) as unknown)) });
// oxlint-disable-next-line no-sparse-arrays -- what a caller may write
const withHole = ["direct_user", , "direct_user"];
const { proxy: revoked, revoke } = Proxy.revocable([], {});
revoke();
const throwingItem = Object.defineProperty(["direct_user"], 0, {
  get() {
    throw new Error("read");
  },
});

test.for([
  { name: "null", exposedTo: null, value: "null" },
  { name: "a text", exposedTo: "tool_external", value: "of type string" },
  { name: "a set", exposedTo: new Set(["tool_external"]), value: "of type object" },
  { name: "an object like an array", exposedTo: { 0: "tool_external", length: 1 }, value: "of type object" },
  {
    name: "17 classes",
    exposedTo: originClasses.flatMap((each) => [each, each, each]).slice(0, 17),
    value: "an array of 17 classes",
  },
  { name: "a hole", exposedTo: withHole, value: "an array with the class of type undefined" },
  { name: "an unknown class", exposedTo: ["direct_user", "web"], value: 'an array with the class "web"' },
  { name: "a nested array", exposedTo: [["direct_user"]], value: "an array with the class of type object" },
  { name: "an item that throws", exposedTo: throwingItem, value: unreadable },
  { name: "a revoked proxy", exposedTo: revoked, value: unreadable },
  { name: "a proxy without a length", exposedTo: lengthOf(Number.NaN), value: "an array of NaN classes" },
  { name: "a proxy with a negative length", exposedTo: lengthOf(-1), value: "an array of -1 classes" },
])("refuses exposure that is or has $name", ({ exposedTo, value }) => {
  expect(readExposedTo(exposedTo)).toBe(value);
  // The origin alone would show more trust.
  const context = asked({ origin: full, exposedTo });
  expect(namesIn(context).origin).toBeNull();
  expect(() => checkContext(context)).toThrow(
    expect.objectContaining({
      code: "INPUT_INVALID",
      message: expect.stringContaining(
        `ctx.exposedTo is ${value}, allowed: an array of at most 16 classes (`,
      ) as string,
      issues: [expect.objectContaining({ field: "ctx.exposedTo", value })],
    }),
  );
});

const untold = { class: "unstated", run: null, turn: null, source: null, exposedTo: [], told: false };

test.for([
  { name: "nothing", ctx: {}, stated: untold },
  { name: "undefined", ctx: { origin: undefined, exposedTo: undefined }, stated: untold },
  { name: "no exposure", ctx: { exposedTo: [] }, stated: untold },
  { name: "that it is not known", ctx: { origin: { class: "unstated" } }, stated: { ...untold, told: true } },
  {
    name: "only exposure",
    ctx: { exposedTo: ["tool_external"] },
    stated: { ...untold, exposedTo: ["tool_external"], told: true },
  },
  {
    name: "both",
    ctx: { origin: full, exposedTo: ["direct_user"] },
    stated: { ...full, exposedTo: ["direct_user"], told: true },
  },
])("a program that says $name", ({ ctx, stated }) => {
  const context = asked(ctx);
  const { origin } = checkContext(context);
  expect(origin).toEqual(stated);
  expect(namesIn(context).origin).toEqual(stated);
  expect(Object.isFrozen(origin)).toBe(true);
  // A call that an operation makes says the same.
  expect(checkContext(asked(asTold(origin))).origin).toEqual(stated);
});

test("a context whose origin cannot be read at all names nobody, and the call fails", () => {
  const context = asked({});
  const faulty = readContext({
    userId: "alice",
    get origin(): never {
      throw new Error("read");
    },
  });
  expect(namesIn(faulty)).toMatchObject({ userId: null, origin: untold });
  expect(() => checkContext(faulty)).toThrow(expect.objectContaining({ code: "INTERNAL" }));
  expect(checkContext(context).origin.told).toBe(false);
});

const trust = (of: OriginClass | null, ...exposedTo: OriginClass[]): OriginClass =>
  statedTrust(stateOrigin(of === null ? null : { class: of }, exposedTo));

test("trust is the lowest of class and exposure", () => {
  expect(trust(null)).toBe("unstated");
  expect(trust("owner_edit")).toBe("owner_edit");
  expect(trust("direct_user", "tool_external", "model_inference")).toBe("tool_external");
  expect(trust("untrusted_document", "owner_edit")).toBe("untrusted_document");
  expect(trust(null, "direct_user")).toBe("unstated");
  expect(trust(null, "tool_external")).toBe("tool_external");
  for (const each of originClasses)
    for (const other of originClasses) expect(trust(each, other)).toBe(lowestOf(other, each));
  expect(lowestOf()).toBe("owner_edit");
});
