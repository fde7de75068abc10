/** A record has only named fields, and each has a bound. */
import { expect, test } from "vitest";

import { recordLine } from "../../host/audit/log/record-line.ts";
import { auditLimits } from "../../shared/limits.ts";
import { toJSONSchema } from "../../shared/zod.ts";
import type { AuditEntry } from "../stage/audit-log.ts";
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

/** The parts of a schema without a bound, and the objects that accept unknown keys. */
function openPlaces(schema: Schema, path: string): string[] {
  const { propertyNames, additionalProperties, items, anyOf = [], oneOf = [] } = schema;
  const parts: [string, Schema][] = Object.entries(schema.properties ?? {}).map(([key, each]) => [`.${key}`, each]);
  if (items) parts.push(["[]", items]);
  for (const each of [...anyOf, ...oneOf]) parts.push(["", each]);
  // Of a map with arbitrary keys. JSON Schema leaves out that a property name is a string.
  if (propertyNames) parts.push(["'s names", { type: "string", ...propertyNames }]);
  if (typeof additionalProperties === "object") parts.push(["'s texts", additionalProperties]);
  const isOpen = {
    object: additionalProperties !== false && propertyNames === undefined,
    array: schema.maxItems === undefined,
    string: schema.maxLength === undefined && !isFixed(schema.pattern) && !schema.enum && schema.const === undefined,
    integer: schema.minimum === undefined || schema.minimum < 0,
    number: schema.minimum === undefined || schema.minimum < 0,
    "": anyOf.length + oneOf.length === 0,
  }[schema.type ?? ""];
  const own = isOpen === true ? [`${path}: ${schema.type ?? "anything"}`] : [];
  return [...parts.flatMap(([name, each]) => openPlaces(each, `${path}${name}`)), ...own];
}

test("every object of a record is closed, and every text, list and number has a bound", () => {
  const schema = toJSONSchema(auditRecordSchema) as unknown as Schema;
  expect(openPlaces(schema, "record")).toEqual([]);
  expect(schema.oneOf ?? schema.anyOf).toHaveLength(8);
});

const file = { scope: "m", path: "a", bytes: 1 };
test.for<readonly [name: string, entry: object]>([
  ["a body", { ...callEntry(1), body: "text" }],
  ["a path that is too long", callEntry(1, { writes: [{ ...file, path: "a".repeat(766) }] })],
  ["a standard code behind another one", callEntry(1, { code: "BUSY", of: "CLOSED" })],
  ["a reason that is no word", refusedEntry({ reason: "two words" })],
  ["a text in an origin", { ...callEntry(1), origin: { class: "unstated", text: "x" } }],
  ["an unknown kind", { kind: "other" }],
])("refuses to write a record with %s", ([, entry]) => {
  expect(() => recordLine(entry as AuditEntry, null)).toThrow(
    "Cannot write an audit record: it does not match the record format",
  );
});

const many = (each: object): object[] => Array.from({ length: auditLimits.recordFilesMax }, () => each);
test("writes the longest valid record, and none that is longer than the bound", () => {
  const longest = { ...callEntry(1), removed: many({ scope: "s".repeat(32), path: "p".repeat(765), bytes: 2 ** 21 }) };
  expect(recordLine(longest as AuditEntry, null).bytes.length).toBeGreaterThan(50_000_000);
  const longer = { ...callEntry(1), writes: many({ ...file, path: "\u0001".repeat(255) }) };
  expect(() => recordLine(longer as AuditEntry, null)).toThrow(/it is \d+ bytes, at most 58720256 allowed/);
});
