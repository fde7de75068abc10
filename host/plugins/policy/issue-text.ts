import { quoted } from "../../../shared/text.ts";

interface SchemaIssue {
  readonly code: string;
  readonly path: readonly PropertyKey[];
  /** What the schema allows. The schemas' messages are written that way. */
  readonly message: string;
  readonly keys?: readonly string[];
}

/** A clause that names the place that does not fit a schema, its value and what is allowed. */
export function issueText(issue: SchemaIssue, value: unknown): string {
  const allowed = `allowed: ${issue.message}`;
  if (issue.code === "invalid_key") {
    const [key, ...parents] = issue.path.toReversed();
    return `${placeOf(parents.toReversed())} has the key ${quoted(String(key))}, ${allowed}`;
  }
  const [unknownKey] = issue.keys ?? [];
  if (unknownKey !== undefined) return `${placeOf(issue.path)} has the key ${quoted(unknownKey)}, ${allowed}`;
  return `${placeOf(issue.path)} is ${presentValue(valueAt(value, issue.path))}, ${allowed}`;
}

/** A path in JavaScript notation: `plugins["user-memory"].tools`. */
function placeOf(path: readonly PropertyKey[]): string {
  const names = path.map((key) => {
    if (typeof key === "number") return `[${key}]`;
    return /^\w{1,64}$/.test(String(key)) ? `.${String(key)}` : `[${quoted(String(key))}]`;
  });
  return names.join("").replace(/^\./, "") || "it";
}

export function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((each, key) => Object.getOwnPropertyDescriptor(Object(each), key)?.value, value);
}

/** A value in an error message. */
export function presentValue(value: unknown): string {
  if (value === undefined) return "missing";
  if (typeof value === "string") return quoted(value);
  if (Array.isArray(value)) return value.length === 0 ? "an empty array" : "an array";
  if (typeof value === "object" && value !== null) return "an object";
  return typeof value === "number" ? String(value) : JSON.stringify(value);
}
