/** A conformance vector: files before, calls with their exact results, files after. `README.md` has the format. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import type { ContextStore } from "memcell";

/** A text, or the bytes of a file that is not text, in lower-case hexadecimal digits. */
export type VectorFile = string | { readonly $hex: string };
/** By user id, then by the path in the user's folder. */
type ByUser<Content> = Readonly<Record<string, Readonly<Record<string, Content>>>>;

/** A shared store: the files of its entries, and its grants. */
export interface VectorStoreState {
  readonly files?: Readonly<Record<string, VectorFile>>;
  readonly grants?: readonly VectorGrant[];
}

export interface VectorGrant {
  readonly grantee: string;
  readonly level: string;
  readonly grantedMs: number;
  readonly expiresMs: number | null;
}

/** By the store's id. */
export type VectorStates = Readonly<Record<string, VectorStoreState>>;

export interface VectorCall {
  readonly tool: string;
  /** Absent: `model`. */
  readonly audience?: "host";
  readonly context: { readonly userId?: string; readonly epochMs: number; readonly stores?: readonly ContextStore[] };
  readonly input: unknown;
  readonly result: Record<string, unknown>;
}

export interface Vector {
  readonly title: string;
  /** Absent: `user-memory`. */
  readonly plugin?: string;
  /** The limits that the host lowers. */
  readonly limits?: { readonly fuelPolls?: number; readonly deadlineMs?: number };
  /** The abilities that the disk must have. A host without one skips the vector and reports it. */
  readonly needs?: readonly "case-sensitive names"[];
  readonly before: ByUser<VectorFile>;
  /** Symbolic links and their targets. */
  readonly links?: ByUser<string>;
  /** Second names of files, with the path of the same user's first name. */
  readonly hardLinks?: ByUser<string>;
  readonly folders?: Readonly<Record<string, readonly string[]>>;
  /** The calls are started in this order, without waiting for each other. */
  readonly parallel?: boolean;
  readonly calls: readonly VectorCall[];
  readonly after: ByUser<VectorFile>;
  /** Shared stores, in vectors for hosts of ABI version 2. */
  readonly storesBefore?: VectorStates;
  readonly storesAfter?: VectorStates;
  /** The names of some users' folders, in vectors about these names. Absent: by the rule of the specification. */
  readonly folderNames?: Readonly<Record<string, string>>;
}

/** All vectors, named `<folder>/<case>`: those for every host, or those for the Node host alone. */
export function readVectors(kind: "vectors" | "node-vectors" = "vectors"): { name: string; vector: Vector }[] {
  const folder = fileURLToPath(new URL(`${kind}/`, import.meta.url));
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".json"));
  return files.toSorted().map((file) => ({
    name: file.replace(/\.json$/, ""),
    vector: expand(JSON.parse(readFileSync(join(folder, file), "utf8"))) as Vector,
  }));
}

/** Equal for vectors that can share a runtime: those with the same plugin and limits. */
export const runtimeKey = ({ plugin = "user-memory", limits = {} }: Vector): string => JSON.stringify([plugin, limits]);

/** Expands `{"$repeat": [text, times]}` and `{"$concat": [parts]}`, which stand for strings. */
function expand(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(expand);
  if (typeof value !== "object" || value === null) return value;
  if ("$repeat" in value) {
    const [text, times] = value.$repeat as [string, number];
    return text.repeat(times);
  }
  if ("$concat" in value) return (value.$concat as unknown[]).map(expand).join("");
  const copy: Record<string, unknown> = {};
  // `defineProperty`, because "__proto__" is an ordinary key in a vector.
  for (const [key, each] of Object.entries(value)) {
    Object.defineProperty(copy, key, { value: expand(each), enumerable: true, writable: true, configurable: true });
  }
  return copy;
}
