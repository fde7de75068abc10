/** A record has only named fields, and each has a bound. */
import { expect, test } from "vitest";

import { recordLine } from "../../host/audit/log/record-line.ts";
import { auditLimits } from "../../shared/limits.ts";
import { toJSONSchema } from "../../shared/zod.ts";
import { auditRecordSchema } from "../stage/audit-log.ts";
import { callEntry, refusedEntry } from "./audited.ts";

interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly propertyNames?: Schema;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly minimum?: number;
  readonly pattern?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
}

/** A pattern of fixed length bounds a text as well as a maximum length does. */
const isFixed = (pattern = ""): boolean => pattern !== "" && !/[*+]|,\}/.test(pattern);

/** The unbounded parts of a map with arbitrary keys: those of its keys and its values. */
function insideOfMap({ propertyNames, additionalProperties }: Schema, path: string): string[] {
  if (!propertyNames || typeof additionalProperties !== "object") return [];
  // JSON Schema leaves out that a property name is a string.
  const names = { type: "string", ...propertyNames };
  return [...openPlaces(names, `${path}'s names`), ...openPlaces(additionalProperties, `${path}'s texts`)];
}

/** The parts of a schema without a bound, and the objects that accept unknown keys. */
function openPlaces(schema: Schema, path: string): string[] {
  const inside = [
    ...Object.entries(schema.properties ?? {}).flatMap(([key, each]) => openPlaces(each, `${path}.${key}`)),
    ...insideOfMap(schema, path),
    ...(schema.items ? openPlaces(schema.items, `${path}[]`) : []),
    ...[...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap((each) => openPlaces(each, path)),
  ];
  const isOpen = {
    object: schema.additionalProperties !== false && schema.propertyNames === undefined,
    array: schema.maxItems === undefined,
    string: schema.maxLength === undefined && !isFixed(schema.pattern) && !schema.enum && schema.const === undefined,
    integer: schema.minimum === undefined || schema.minimum < 0,
    number: schema.minimum === undefined || schema.minimum < 0,
  }[schema.type ?? ""];
  if (schema.type === undefined && !schema.anyOf && !schema.oneOf) return [...inside, `${path}: anything`];
  return isOpen === true ? [...inside, `${path}: ${schema.type}`] : inside;
}

test("every object of a record is closed, and every text, list and number has a bound", () => {
  const schema = toJSONSchema(auditRecordSchema) as unknown as Schema;
  expect(openPlaces(schema, "record")).toEqual([]);
  expect(schema.oneOf ?? schema.anyOf).toHaveLength(8);
});

test("the check finds parts without a bound", () => {
  expect(openPlaces({ type: "object", properties: { a: { type: "string" } } }, "r")).toEqual([
    "r.a: string",
    "r: object",
  ]);
  expect(openPlaces({ type: "array", items: { type: "string", pattern: "^a+$" } }, "r")).toEqual([
    "r[]: string",
    "r: array",
  ]);
  expect(openPlaces({}, "r")).toEqual(["r: anything"]);
  const map = { type: "object", propertyNames: { type: "string" }, additionalProperties: { type: "string" } };
  expect(openPlaces(map, "r")).toEqual(["r's names: string", "r's texts: string"]);
});

const seventeen = Array.from({ length: 17 }, (_, at) => [`n${at}`, ""]);
const seventeenClasses = seventeen.map(() => "tool_external" as const);

test.for([
  { name: "a body", entry: { ...callEntry(1), body: "text" } },
  {
    name: "a file's content",
    entry: callEntry(1, { writes: [{ scope: "m", path: "a", bytes: 1, content: "x" } as never] }),
  },
  {
    name: "a path that is too long",
    entry: callEntry(1, { writes: [{ scope: "m", path: "a".repeat(256), bytes: 1 }] }),
  },
  { name: "a user id that is too long", entry: callEntry(1, { userId: "a".repeat(129) }) },
  { name: "a number that is NaN", entry: callEntry(1, { durationMs: Number.NaN }) },
  { name: "an own code without a standard one", entry: callEntry(1, { code: "KEY_EXISTS" }) },
  { name: "a standard code behind another one", entry: callEntry(1, { code: "BUSY", of: "CLOSED" }) },
  { name: "an unknown standard code", entry: callEntry(1, { code: "KEY_EXISTS", of: "A_CODE" as never }) },
  { name: "a standard code in a successful call", entry: callEntry(1, { code: null, of: "CLOSED" }) },
  { name: "a code that contains a user id", entry: callEntry(1, { code: "KEY of alice", of: "NAME_CONFLICT" }) },
  { name: "a code that is too long", entry: callEntry(1, { code: "A".repeat(65), of: "NAME_CONFLICT" }) },
  { name: "a text in a refusal", entry: { ...refusedEntry(), text: "text" } as never },
  { name: "a reason that is no word", entry: refusedEntry({ reason: "two words" }) },
  { name: "a peer of two lines", entry: refusedEntry({ peer: "a\nb" }) },
  { name: "a refusal that happened zero times", entry: refusedEntry({ times: 0 }) },
  { name: "too many labels", entry: callEntry(1, { labels: Object.fromEntries(seventeen) }) },
  { name: "an invalid label name", entry: callEntry(1, { labels: { A: "" } }) },
  { name: "a label that is too long", entry: callEntry(1, { labels: { a: "x".repeat(257) } }) },
  { name: "a label of two lines", entry: callEntry(1, { labels: { a: "x\ny" } }) },
  { name: "an origin without a class", entry: callEntry(1, { origin: { run: "r" } as never }) },
  { name: "an unknown class of origin", entry: callEntry(1, { origin: { class: "web" as never } }) },
  { name: "a text in an origin", entry: callEntry(1, { origin: { class: "unstated", text: "x" } as never }) },
  { name: "a run that is too long", entry: callEntry(1, { origin: { class: "unstated", run: "x".repeat(129) } }) },
  { name: "a turn that is too long", entry: callEntry(1, { origin: { class: "unstated", turn: "x".repeat(65) } }) },
  {
    name: "a source that is too long",
    entry: callEntry(1, { origin: { class: "unstated", source: "x".repeat(513) } }),
  },
  { name: "a source of two lines", entry: callEntry(1, { origin: { class: "unstated", source: "x\ny" } }) },
  { name: "an empty source", entry: callEntry(1, { origin: { class: "unstated", source: "" } }) },
  { name: "exposure to nothing", entry: callEntry(1, { origin: { class: "unstated", exposedTo: [] } }) },
  { name: "too much exposure", entry: callEntry(1, { origin: { class: "unstated", exposedTo: seventeenClasses } }) },
  { name: "an unknown kind", entry: { kind: "other" } as never },
])("refuses to write a record with $name", ({ entry }) => {
  expect(() => recordLine(entry, null)).toThrow("Cannot write an audit record: it does not match the record format");
});

test("refuses to write a record that is too long", () => {
  const file = { scope: "memory", path: "\u0001".repeat(255), bytes: 1 };
  const writes = Array.from({ length: auditLimits.recordFilesMax }, () => file);
  expect(() => recordLine(callEntry(1, { writes }), null)).toThrow(/it is \d+ bytes, at most 25165824 allowed/);
});

test("writes the longest valid record", () => {
  const file = { scope: "s".repeat(32), path: "p".repeat(255), bytes: 2 ** 21 };
  const removed = Array.from({ length: auditLimits.recordFilesMax }, () => file);
  expect(recordLine({ ...callEntry(1), removed }, null).bytes.length).toBeGreaterThan(18_000_000);
});
