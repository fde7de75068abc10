import type { ListedFile } from "../../../shared/abi.ts";
import { foldersOf } from "../../../shared/path.ts";
import type { DirectFiles } from "../held-reads.ts";
import { checkBytes, inFoldersPlace, listedIn, noFile, surveyOf, trashIn, unsafe } from "../listed-files.ts";
import type { ChangedFile, PresentFiles } from "../plan-changes.ts";
import { checkedScope, segmentsOf } from "../reading.ts";
import { sizeOfFiles } from "../scope-size.ts";
import type { ScopeSize, ScopeSurvey } from "../store.ts";

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

  list(scope: string, prefix: string, filesMax?: number): ListedFile[] {
    return listedIn(this.#filesOf(scope), prefix, filesMax);
  }

  listTrash(scope: string): ListedFile[] {
    return trashIn(this.#filesOf(scope));
  }

  survey(scope: string): ScopeSurvey {
    return surveyOf(this.#filesOf(scope));
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
    if (foldersOf(path).some((folder) => files.has(folder))) throw inFoldersPlace();
    const content = files.get(path) ?? null;
    if (folders.has(path)) throw unsafe(path, noFile);
    checkBytes(path, content?.length ?? 0);
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

  #filesOf(scope: string): ListedFile[] {
    const { files, changedUs } = this.#scopes.get(checkedScope(scope)) ?? newScope();
    return Array.from(files, ([path, content]) => ({
      path,
      bytes: content.length,
      changedUs: changedUs.get(path) ?? 0,
    }));
  }
}

const newScope = (): Scope => ({ files: new Map(), changedUs: new Map(), folders: new Set() });
