import type { ListedFile } from "../../../shared/abi.ts";
import { storeLimits } from "../../../shared/limits.ts";
import { foldersOf, isListed, trashFolder } from "../../../shared/path.ts";
import { quoted } from "../../../shared/text.ts";
import { ToolError } from "../../values/tool-error.ts";
import type { DirectFiles } from "../held-reads.ts";
import type { ChangedFile, PresentFiles } from "../plan-changes.ts";
import { checkedScope, segmentsOf, sortedByPath, tooManyFiles } from "../reading.ts";
import { sizeOfFiles } from "../scope-size.ts";
import type { ScopeSize, ScopeSurvey, UnfitFile } from "../store.ts";

interface Scope {
  readonly files: Map<string, Buffer>;
  /** When each file was last changed, in microseconds. */
  readonly changedUs: Map<string, number>;
  /** Every folder that ever contained a file. As on a disk, no file can have the name of a folder. */
  readonly folders: Set<string>;
}

/** One user's files, or those of a shared store, in memory. Grammar, order, bounds and refusals are those of files on a disk. */
export class UserFiles implements PresentFiles, DirectFiles {
  readonly #scopes = new Map<string, Scope>();
  #lastUs = 0;

  scopes(): string[] {
    return [...this.#scopes.keys()].toSorted();
  }

  beside(): [] {
    return [];
  }

  list(scope: string, prefix: string, filesMax: number = storeLimits.listEntriesMax): ListedFile[] {
    const found = this.#filesOf(scope).filter(({ path, bytes }) => isListed(path, prefix) && refusalOf(bytes) === null);
    if (found.length <= filesMax) return found;
    throw tooManyFiles();
  }

  listTrash(scope: string): ListedFile[] {
    return this.#filesOf(scope).filter(({ path }) => isListed(path, `${trashFolder}/`));
  }

  survey(scope: string): ScopeSurvey {
    const all = this.#filesOf(scope);
    const unfit = all.flatMap(({ path, bytes }): UnfitFile[] => {
      const reason = refusalOf(bytes);
      return reason === null ? [] : [{ path, reason }];
    });
    return { files: all.filter(({ bytes }) => refusalOf(bytes) === null), unfit };
  }

  scopeSize(scope: string): ScopeSize {
    return sizeOfFiles(this.#filesOf(scope));
  }

  sizeOf(scope: string, path: string): number | null {
    return this.read(scope, path)?.length ?? null;
  }

  bytesOf(scope: string, path: string): Buffer | null {
    const content = this.read(scope, path);
    return content && Buffer.from(content);
  }

  /** Returns the stored bytes themselves, not a copy. The caller must not change them. */
  read(scope: string, path: string): Buffer | null {
    segmentsOf(path);
    const { files, folders } = this.#scopes.get(checkedScope(scope)) ?? newScope();
    if (foldersOf(path).some((folder) => files.has(folder))) {
      throw new ToolError("STORAGE_UNSAFE", "Cannot open the user's folder: something else is in a folder's place");
    }
    const content = files.get(path) ?? null;
    const refusal = folders.has(path) ? "it is not a regular file" : refusalOf(content?.length ?? 0);
    if (refusal !== null) throw new ToolError("STORAGE_UNSAFE", `Cannot use ${quoted(path)}: ${refusal}`);
    return content;
  }

  readStamped(scope: string, path: string): { readonly content: Buffer; readonly stamp: null } | null {
    const content = this.read(scope, path);
    return content && { content, stamp: null };
  }

  /** Nothing is gained by it: a read costs nothing here. */
  stampOf(): null {
    return null;
  }

  refuseTwin(): void {
    // Names that differ by case are different names.
  }

  nameOf(_scope: string, path: string): string {
    return path;
  }

  /** Applies all changes in one step: nothing can fail, and nobody reads meanwhile. */
  apply(changed: readonly ChangedFile[]): void {
    // Two commits never have the same time.
    this.#lastUs = Math.max(this.#lastUs + 1, Math.round((performance.timeOrigin + performance.now()) * 1_000));
    for (const { scope, path, after } of changed) {
      const { files, folders, changedUs } = this.#scopes.get(scope) ?? newScope();
      if (after === null) {
        files.delete(path);
        continue;
      }
      this.#scopes.set(scope, { files, folders, changedUs });
      // Copied out of Node's shared buffer pool, so that no other content is sent along with it.
      files.set(path, Buffer.from(new Uint8Array(after).buffer));
      changedUs.set(path, this.#lastUs);
      for (const folder of foldersOf(path)) folders.add(folder);
    }
  }

  /** Sorted by path. */
  #filesOf(scope: string): ListedFile[] {
    const { files, changedUs } = this.#scopes.get(checkedScope(scope)) ?? newScope();
    const all = Array.from(files, ([path, content]) => ({
      path,
      bytes: content.length,
      changedUs: changedUs.get(path) ?? 0,
    }));
    return sortedByPath(all);
  }
}

const newScope = (): Scope => ({ files: new Map(), changedUs: new Map(), folders: new Set() });

const refusalOf = (bytes: number): string | null =>
  bytes > storeLimits.fileBytesMax ? `it is ${bytes} bytes, at most ${storeLimits.fileBytesMax} allowed` : null;
