/** A conformance vector: files before, calls with their exact results, files after. `README.md` has the format. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** A text, or the bytes of a file that is none, in lower-case hexadecimal digits. */
export type VectorFile = string | { readonly $hex: string };
/** By user id, then by the path in the user's folder. */
type ByUser<Content> = Readonly<Record<string, Readonly<Record<string, Content>>>>;

export interface VectorCall {
  readonly tool: string;
  /** Absent: `model`. */
  readonly audience?: "host";
  readonly context: { readonly userId?: string; readonly epochMs: number };
  readonly input: unknown;
  readonly result: Record<string, unknown>;
}

export interface Vector {
  readonly title: string;
  /** Absent: `user-memory`. */
  readonly plugin?: string;
  /** What the host lowers. */
  readonly limits?: { readonly fuelPolls?: number; readonly deadlineMs?: number };
  /** What the disk must be able to do; a host without it leaves the vector out and says so. */
  readonly needs?: readonly "case-sensitive names"[];
  readonly before: ByUser<VectorFile>;
  /** Symbolic links and what they say. */
  readonly links?: ByUser<string>;
  /** Second names, and the path of the same user that is the first. */
  readonly hardLinks?: ByUser<string>;
  readonly folders?: Readonly<Record<string, readonly string[]>>;
  /** The calls are made at once, in this order, without waiting for each other. */
  readonly parallel?: boolean;
  readonly calls: readonly VectorCall[];
  readonly after: ByUser<VectorFile>;
  /** The folders of some users by name, where the vector is about the names. Absent: by the rule of the specification. */
  readonly folderNames?: Readonly<Record<string, string>>;
}

/** All vectors as `<what they show>/<case>` and content: those for every host, or those for the Node host alone. */
export function readVectors(kind: "vectors" | "node-vectors" = "vectors"): { name: string; vector: Vector }[] {
  const folder = fileURLToPath(new URL(`${kind}/`, import.meta.url));
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".json"));
  return files.toSorted().map((file) => ({
    name: file.replace(/\.json$/, ""),
    vector: expand(JSON.parse(readFileSync(join(folder, file), "utf8"))) as Vector,
  }));
}

/** Writes out `{"$repeat": [text, times]}` and `{"$concat": [parts]}`, which stand for strings. */
function expand(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(expand);
  if (typeof value !== "object" || value === null) return value;
  if ("$repeat" in value) {
    const [text, times] = value.$repeat as [string, number];
    return text.repeat(times);
  }
  if ("$concat" in value) return (value.$concat as unknown[]).map(expand).join("");
  const copy: Record<string, unknown> = {};
  // "__proto__" is a key like any other in a vector.
  for (const [key, each] of Object.entries(value)) {
    Object.defineProperty(copy, key, { value: expand(each), enumerable: true, writable: true, configurable: true });
  }
  return copy;
}
