/** A conformance vector: files before, calls with their exact results, files after. `README.md` has the format. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import type { UserFiles } from "../support/user-files.ts";

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
  readonly before: UserFiles;
  readonly links?: UserFiles;
  readonly hardLinks?: UserFiles;
  readonly folders?: Readonly<Record<string, readonly string[]>>;
  /** The calls are made at once, in this order, without waiting for each other. */
  readonly parallel?: boolean;
  readonly calls: readonly VectorCall[];
  readonly after: UserFiles;
}

const folder = fileURLToPath(new URL("vectors/", import.meta.url));

/** All vectors as `<tool>/<case>` and content. */
export function readVectors(): { name: string; vector: Vector }[] {
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
