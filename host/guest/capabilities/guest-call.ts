import type { ListedFile, StoreCapability } from "../../../shared/abi.ts";
import { storeLimits } from "../../../shared/limits.ts";
import { isScopePath, isTrashPath } from "../../../shared/path.ts";
import { quoted } from "../../../shared/text.ts";
import type { CapabilityTrail } from "../../audit/collect/capability-trail.ts";
import type { UserReader } from "../../store/readers.ts";
import type { ScopeSize } from "../../store/scope-size.ts";
import { ToolError } from "../../values/tool-error.ts";
import type { Grant } from "../grant.ts";
import type { ReachedStores } from "./reached-stores.ts";
import type { StagedChanges } from "./staged-changes.ts";

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
    this.#sizes.set(`${scope}:${path}`, text === null ? null : Buffer.byteLength(text));
    return text;
  }

  list(scope: string, prefix: string): ListedFile[] {
    return this.#reader.list(scope, prefix);
  }

  sizeOf(scope: string, path: string): number | null {
    const key = `${scope}:${path}`;
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
