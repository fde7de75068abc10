/** What the readers of every store do alike. `shared/path.ts` has the grammar of scopes and paths. */
import { hash } from "node:crypto";

import { storeLimits } from "../../shared/limits.ts";
import { isScopePath, scopeName } from "../../shared/path.ts";
import { quoted } from "../../shared/text.ts";
import type { Seen } from "../values/change-set.ts";
import { ToolError } from "../values/tool-error.ts";

/** What a reader has found so far, each file once: as it was at the last look. */
export class SeenFiles {
  readonly #seen = new Map<string, Seen>();

  note(scope: string, path: string, bytes: Uint8Array | null): void {
    this.#seen.set(`${scope}:${path}`, { scope, path, digest: digestOf(bytes) });
  }

  list(): Seen[] {
    return [...this.#seen.values()];
  }
}

/** What tells one content of a file from another: SHA-256 in hexadecimal digits; `null` for a file that is not there. */
export function digestOf(content: Uint8Array | null): string | null {
  return content && hash("sha256", content);
}

/** Throws `CAPABILITY_DENIED` for what is no scope's name. */
export function checkedScope(scope: string): string {
  if (scopeName.test(scope)) return scope;
  throw new ToolError("CAPABILITY_DENIED", `Cannot use scope ${quoted(scope)}: no such scope`);
}

/** The folders of a path inside its scope, and its name last. Throws `CAPABILITY_DENIED` for what is none. */
export function segmentsOf(path: string): string[] {
  if (isScopePath(path)) return path.split("/");
  throw new ToolError("CAPABILITY_DENIED", `Cannot use path ${quoted(path)}: it is not a path inside a scope`);
}

/** Bytes to text without loss: what is not UTF-8 is `ENTRY_UNREADABLE`, and a byte order mark stays. */
export function decodeText(bytes: Uint8Array, shown: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new ToolError("ENTRY_UNREADABLE", `Cannot read ${quoted(shown)}: it is not UTF-8 text`, { cause: error });
  }
}

export const sortedByPath = <Item extends { readonly path: string }>(items: readonly Item[]): Item[] =>
  items.toSorted((a, b) => (a.path < b.path ? -1 : 1));

export const tooManyFiles = (): ToolError =>
  new ToolError("QUOTA_EXCEEDED", `Cannot list files: more than ${storeLimits.listEntriesMax} are there`);
