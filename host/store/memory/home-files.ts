import type { ListedFile } from "../../../shared/abi.ts";
import { foldersOf } from "../../../shared/path.ts";
import { placeKey } from "../../values/change-set.ts";
import type { ChangedFile, PresentFiles } from "../plan-changes.ts";
import {
  checkBytes,
  checkedScope,
  inFoldersPlace,
  listedIn,
  noFile,
  segmentsOf,
  sizeOfFiles,
  surveyOf,
  trashIn,
  unsafe,
} from "../reading.ts";
import type { Files, ScopeSize } from "../reading.ts";

type ScopeFiles = Map<string, { readonly content: Buffer; readonly changedUs: number }>;

/** One home's files. Grammar, order, bounds and refusals are those of files on a disk. */
export class HomeFiles implements Files, PresentFiles {
  /** By scope, then by path. */
  readonly #scopes = new Map<string, ScopeFiles>();
  /** Every folder that ever contained a file, as `scope:path`. As on a disk, no file can have the name of a folder. */
  readonly #folders = new Set<string>();
  #lastUs = 0;

  readonly scopes = (): string[] => [...this.#scopes.keys()].toSorted();
  readonly list = (scope: string, prefix: string, filesMax?: number): ListedFile[] =>
    listedIn(this.#allOf(scope), prefix, filesMax);
  readonly listTrash: Files["listTrash"] = (scope) => trashIn(this.#allOf(scope));
  readonly survey: Files["survey"] = (scope) => surveyOf(this.#allOf(scope));
  readonly scopeSize = (scope: string): ScopeSize => sizeOfFiles(this.#allOf(scope));
  readonly sizeOf = (scope: string, path: string): number | null => this.read(scope, path)?.length ?? null;
  readonly bytesOf = (scope: string, path: string): Buffer | null => {
    const content = this.read(scope, path);
    return content && Buffer.from(content);
  };
  readonly readStamped: PresentFiles["readStamped"] = (scope, path) => {
    const content = this.read(scope, path);
    return content && { content, stamp: null };
  };
  // A read costs as little as a stamp.
  readonly stampOf = (): null => null;

  /** Returns the stored bytes themselves, not a copy. The caller must not change them. */
  read(scope: string, path: string): Buffer | null {
    segmentsOf(path);
    const files = this.#filesOf(scope);
    if (foldersOf(path).some((folder) => files.has(folder))) throw inFoldersPlace();
    if (this.#folders.has(placeKey({ scope, path }))) throw unsafe(path, noFile);
    const content = files.get(path)?.content ?? null;
    checkBytes(path, content?.length ?? 0);
    return content;
  }

  /** Applies all changes in one step: nothing can fail, and nobody reads meanwhile. */
  apply(changed: readonly ChangedFile[]): void {
    // Two commits never have the same time.
    this.#lastUs = Math.max(this.#lastUs + 1, Math.round((performance.timeOrigin + performance.now()) * 1_000));
    for (const { scope, path, after } of changed) {
      const files = this.#filesOf(scope);
      files.delete(path);
      if (after === null) continue;
      // Copied out of Node's shared buffer pool, so that no other content is sent along with it.
      const content = Buffer.from(new Uint8Array(after).buffer);
      this.#scopes.set(scope, files.set(path, { content, changedUs: this.#lastUs }));
      for (const folder of foldersOf(path)) this.#folders.add(placeKey({ scope, path: folder }));
    }
  }

  #allOf(scope: string): ListedFile[] {
    const files = Array.from(this.#filesOf(scope));
    return files.map(([path, { content, changedUs }]) => ({ path, bytes: content.length, changedUs }));
  }

  #filesOf(scope: string): ScopeFiles {
    return this.#scopes.get(checkedScope(scope)) ?? new Map();
  }
}
