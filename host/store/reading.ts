/** What the readers of all stores share. `shared/path.ts` has the grammar of scopes and paths. */
import { hash } from "node:crypto";

import { storeLimits } from "../../shared/limits.ts";
import { isScopePath, scopeName } from "../../shared/path.ts";
import { quoted } from "../../shared/text.ts";
import type { Seen } from "../values/change-set.ts";
import { storeOfScope } from "../values/store-id.ts";
import type { StoreId } from "../values/store-id.ts";
import { ToolError } from "../values/tool-error.ts";

/** The files that a reader has read so far, each as last read. */
export class SeenFiles {
  readonly #seen = new Map<string, Seen>();

  /** `stamp`: what the medium showed before. */
  note(scope: string, path: string, bytes: Uint8Array | null, stamp: string | null = null): void {
    const digest = digestOf(bytes);
    this.#seen.set(`${scope}:${path}`, stamp === null ? { scope, path, digest } : { scope, path, digest, stamp });
  }

  list(): Seen[] {
    return [...this.#seen.values()];
  }
}

/** SHA-256 of a file's content, in hexadecimal; `null` for a missing file. */
export function digestOf(content: Uint8Array | null): string | null {
  return content && hash("sha256", content);
}

export const noSuchScope = (scope: string): ToolError =>
  new ToolError("CAPABILITY_DENIED", `Cannot use scope ${quoted(scope)}: no such scope`);

/** Throws `CAPABILITY_DENIED` if the text is not a scope's name. */
export function checkedScope(scope: string): string {
  if (scopeName.test(scope)) return scope;
  throw noSuchScope(scope);
}

/** Returns the shared store that a scope names. Throws `CAPABILITY_DENIED` if it names none. */
export function checkedStore(scope: string): StoreId {
  const id = storeOfScope(scope);
  if (id !== null) return id;
  throw noSuchScope(scope);
}

/** The folders of a path inside its scope, then the file's name. Throws `CAPABILITY_DENIED` for an invalid path. */
export function segmentsOf(path: string): string[] {
  if (isScopePath(path)) return path.split("/");
  throw new ToolError("CAPABILITY_DENIED", `Cannot use path ${quoted(path)}: it is not a path inside a scope`);
}

/** Decodes UTF-8 without loss, and keeps a byte order mark. Throws `NoUtf8` for other bytes. */
export function decodeText(bytes: Uint8Array, shown: string): string {
  try {
    return utf8.decode(bytes);
  } catch (error) {
    throw new NoUtf8(shown, bytes, error);
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The failure `ENTRY_UNREADABLE` of a file whose bytes are not UTF-8. */
export class NoUtf8 extends ToolError {
  readonly #bytes: Uint8Array;

  constructor(shown: string, bytes: Uint8Array, cause: unknown) {
    super("ENTRY_UNREADABLE", `Cannot read ${quoted(shown)}: it is not UTF-8 text`, { cause });
    this.#bytes = bytes;
  }

  get bytes(): number {
    return this.#bytes.byteLength;
  }

  /** What can be read: each run of other bytes is one U+FFFD. UTF-16 that begins with a byte order mark is decoded. */
  get readable(): string {
    const [first, second] = this.#bytes;
    const isLittle = first === 0xff && second === 0xfe;
    const isBig = first === 0xfe && second === 0xff;
    const text = new TextDecoder(isLittle ? "utf-16le" : isBig ? "utf-16be" : "utf-8", {
      ignoreBOM: !isLittle && !isBig,
    });
    return text.decode(this.#bytes).replaceAll(/\ufffd+/g, "\ufffd");
  }
}

export const byPath = (a: { readonly path: string }, b: { readonly path: string }): number =>
  a.path < b.path ? -1 : 1;

export const sortedByPath = <Item extends { readonly path: string }>(items: readonly Item[]): Item[] =>
  items.toSorted(byPath);

export const tooManyFiles = (): ToolError =>
  new ToolError("QUOTA_EXCEEDED", `Cannot list files: more than ${storeLimits.listEntriesMax} are there`);
