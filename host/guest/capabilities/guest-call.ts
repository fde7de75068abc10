/** What one call may do, the state that its capabilities work on, and what it has changed so far. */
import type { ListedFile, Right, StoreCapability } from "../../../shared/abi.ts";
import { storeLimits } from "../../../shared/limits.ts";
import { isScopePath, isTrashPath } from "../../../shared/path.ts";
import { quoted } from "../../../shared/text.ts";
import type { CapabilityTrail } from "../../audit/collect/trail.ts";
import type { ScopeSize, UserReader } from "../../store/reading.ts";
import { movedTo, placeKey } from "../../values/change-set.ts";
import type { SizedChange } from "../../values/change-set.ts";
import type { UserId } from "../../values/ids.ts";
import type { DecidedStores } from "../../values/store-grant.ts";
import { ToolError } from "../../values/tool-error.ts";
import type { ReachedStores } from "./reached-stores.ts";

/**
 * What one call may do: the user, the scopes of that user, and the rights. The host functions for this one call are
 * made from it; the guest has no way to name another user.
 */
export interface Grant {
  readonly userId: UserId;
  readonly scopes: readonly string[];
  readonly rights: readonly Right[];
  readonly limits: GrantLimits;
  /** Bytes of the scopes that the host frees when the call succeeds. The call can write as many more. */
  readonly freedBytes: number;
  /** Set if the tool has the scope `store:*`. Then the call reaches these stores, and no scope of the user's folder. */
  readonly stores?: DecidedStores;
}

const changing: ReadonlySet<Right> = new Set(["write", "trash", "grant_set"]);

/** Whether the call can change anything. */
export const canChange = ({ rights }: Grant): boolean => rights.some((right) => changing.has(right));

/** How much one call may use. */
export interface GrantLimits {
  readonly hostCalls: number;
  readonly stagedBytes: number;
  /** Each file that the guest reads gives it a call's fuel anew. */
  readonly refuels: boolean;
}

/** The state that the capabilities of one call work on. */
export interface GuestCall {
  readonly grant: Grant;
  /** `null` unless the tool has the scope `store:*`. */
  readonly reached: ReachedStores | null;
  readonly store: StoredFiles;
  readonly staged: StagedChanges;
  /** Records each use before it is answered. */
  readonly trail: CapabilityTrail;
  /** The time, the same for the whole call. */
  readonly epochMs: number;
}

/** A place in a scope. `scope` names a shared store by its id, even if the request says `store:self`. */
interface Place {
  readonly scope: string;
  readonly path: string;
}

/** Refuses a scope that is not in the grant and a path outside the grammar, before either reaches a store. */
export function checkPlace(call: GuestCall, capability: StoreCapability, { scope, path }: Place): Place {
  const checked = checkScope(call, capability, scope);
  checkPath(path);
  return { scope: checked, path };
}

export function checkPath(path: string): void {
  if (isScopePath(path)) return;
  throw denied(`Cannot use path ${quoted(path)}: allowed are relative paths inside the scope, without "." and ".."`);
}

export function checkScope({ grant, reached }: GuestCall, capability: StoreCapability, scope: string): string {
  if (reached !== null) return reached.scopeFor(capability, scope, grant.rights);
  if (grant.scopes.includes(scope)) return scope;
  throw denied(
    `Cannot use scope ${quoted(scope)}: this call is granted ${grant.scopes.map((each) => quoted(each)).join(", ")}`,
  );
}

export function refuseTrash(path: string): void {
  if (isTrashPath(path)) throw denied(`Cannot change ${quoted(path)}: tools cannot change files in trash/`);
}

/** Bounds what one call may change. */
export function checkChangeCount({ staged }: GuestCall, path: string): void {
  if (staged.changeCount < storeLimits.changesMax) return;
  throw new ToolError(
    "QUOTA_EXCEEDED",
    `Cannot change ${quoted(path)}: this call has changed ${staged.changeCount} files, at most ${storeLimits.changesMax} allowed`,
  );
}

export function denied(message: string): ToolError {
  return new ToolError("CAPABILITY_DENIED", message);
}

/**
 * The store for one call, with a cache of file sizes: each lookup walks through the scope's folders. The
 * cache stays valid because nobody else changes the user's scopes during the call.
 */
export class StoredFiles {
  readonly #reader: UserReader;
  readonly #sizes = new Map<string, number | null>();

  constructor(reader: UserReader) {
    this.#reader = reader;
  }

  read(scope: string, path: string): string | null {
    const text = this.#reader.read(scope, path);
    // Valid as the size, too: `read` refuses whatever `sizeOf` refuses, and decoding a text loses no bytes.
    this.#sizes.set(keyOf(scope, path), text === null ? null : Buffer.byteLength(text));
    return text;
  }

  list(scope: string, prefix: string): ListedFile[] {
    return this.#reader.list(scope, prefix);
  }

  leftOutOf(scope: string): number {
    return this.#reader.leftOutOf(scope);
  }

  sizeOf(scope: string, path: string): number | null {
    const key = keyOf(scope, path);
    let bytes = this.#sizes.get(key);
    if (bytes === undefined) {
      bytes = this.#reader.sizeOf(scope, path);
      this.#sizes.set(key, bytes);
    }
    return bytes;
  }

  scopeSize(scope: string, isAnew: boolean): ScopeSize {
    return this.#reader.scopeSize(scope, isAnew);
  }
}

type WriteChange = Extract<SizedChange, { kind: "write" }>;

/** The present state of a file that a call has touched. */
export type StagedFile =
  | { readonly kind: "written"; readonly content: WriteChange["content"]; readonly bytes: number }
  | { readonly kind: "gone" }
  /** Moved to or from the trash. On the disk, the file is still in its old place. */
  | { readonly kind: "moved"; readonly from: string; readonly bytes: number };

/** The size of a touched file in bytes. */
export function stagedBytes(file: StagedFile): number {
  return file.kind === "gone" ? 0 : file.bytes;
}

/** The changes of a call so far. The call's own later reads see them; nobody else does until they are committed. */
export class StagedChanges {
  readonly #changes = new Set<SizedChange>();
  /** The last write of each file that has not been moved since. The next write replaces it. */
  readonly #lastWrites = new Map<string, WriteChange>();
  readonly #files = new Map<string, StagedFile>();
  /** Files that the host staged before the call. They count in the scope's size, not as the call's own writes. */
  readonly #staged = new Set<StagedFile>();
  #writtenBytes = 0;

  /** `before`: changes that the call's reads see as done. They are not among the call's own changes. */
  constructor(before: readonly SizedChange[] = []) {
    for (const change of before) this.#begin(change);
  }

  /** `bytes`: the size of the content in UTF-8. */
  write(scope: string, path: string, content: string, bytes: number): void {
    const key = keyOf(scope, path);
    const replaced = this.#lastWrites.get(key);
    this.#writtenBytes = this.writtenBytesWith(scope, path, bytes);
    if (replaced) this.#changes.delete(replaced);
    const change: WriteChange = { kind: "write", scope, path, content, bytes };
    this.#changes.add(change);
    this.#lastWrites.set(key, change);
    this.#files.set(key, { kind: "written", content, bytes });
  }

  /** `file`: the file's state under its new path. */
  trash(scope: string, path: string, trashed: string, file: StagedFile): void {
    this.#changes.add({ kind: "trash", scope, path, trashed, bytes: stagedBytes(file) });
    this.#lastWrites.delete(keyOf(scope, path));
    this.#files.set(keyOf(scope, path), { kind: "gone" });
    this.#files.set(keyOf(scope, trashed), file);
  }

  /** The present state of a file, or `undefined` if this call has not touched it. */
  fileAt(scope: string, path: string): StagedFile | undefined {
    return this.#files.get(keyOf(scope, path));
  }

  /** The files of a scope that this call has touched. */
  touched(scope: string): { path: string; file: StagedFile }[] {
    const prefix = keyOf(scope, "");
    return Array.from(this.#files, ([key, file]) => ({ key, file }))
      .filter(({ key }) => key.startsWith(prefix))
      .map(({ key, file }) => ({ path: key.slice(prefix.length), file }));
  }

  /** The call's total of written bytes if this file is written as well. Includes files that were moved since. */
  writtenBytesWith(scope: string, path: string, bytes: number): number {
    const file = this.#files.get(keyOf(scope, path));
    const isOwn = file?.kind === "written" && !this.#staged.has(file);
    return this.#writtenBytes - (isOwn ? file.bytes : 0) + bytes;
  }

  get changeCount(): number {
    return this.#changes.size;
  }

  toChangeSet(): SizedChange[] {
    return [...this.#changes];
  }

  #begin(change: SizedChange): void {
    const { kind, scope, path, bytes } = change;
    const key = keyOf(scope, path);
    if (kind === "write") {
      const file: StagedFile = { kind: "written", content: change.content, bytes };
      this.#staged.add(file);
      this.#files.set(key, file);
      return;
    }
    const moved = this.#files.get(key) ?? { kind: "moved", from: path, bytes };
    this.#files.set(key, { kind: "gone" });
    const target = movedTo(change);
    if (target !== null) this.#files.set(keyOf(scope, target), moved);
  }
}

const keyOf = (scope: string, path: string): string => placeKey({ scope, path });
