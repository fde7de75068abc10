import type { ListedFile } from "../../../shared/abi.ts";
import type { Seen } from "../../values/change-set.ts";
import { decodeText } from "../../values/decode-text.ts";
import type { ScopeSurvey, UserReader } from "../store.ts";
import { digestOf } from "./commit/wal-record.ts";
import { HeldScopes } from "./held-scopes.ts";
import { bytesBelow, listFiles } from "./list-files.ts";
import type { KnownSizes } from "./list-files.ts";
import { checkOwnerIn } from "./owner.ts";
import { surveyFiles } from "./survey-files.ts";
import { hostFolder } from "./user-folder.ts";
import type { UserFolder } from "./user-folder.ts";

/** Reads one user's scopes for one call. */
export class FileReader implements UserReader {
  readonly #scopes: HeldScopes;
  readonly #mountedScope: string | null;
  /** Measured once: a reader serves one call, and meanwhile no host changes the user's scopes. */
  readonly #sizes = new Map<string, KnownSizes>();
  readonly #bytesUsed = new Map<string, number>();
  readonly #seen = new Map<string, Seen>();

  constructor(folder: UserFolder) {
    const user = folder.open();
    try {
      using own = user && user.openFolder(hostFolder);
      checkOwnerIn(own, folder);
    } catch (error) {
      user?.[Symbol.dispose]();
      throw error;
    }
    this.#mountedScope = folder.mountedScope;
    this.#scopes = new HeldScopes(user, folder.mountedScope);
  }

  get seen(): Seen[] {
    return [...this.#seen.values()];
  }

  scopes(): string[] {
    return this.#scopes.names();
  }

  read(scope: string, path: string): string | null {
    const bytes = this.bytesOf(scope, path);
    return bytes === null ? null : decodeText(bytes, path);
  }

  list(scope: string, prefix: string): ListedFile[] {
    const folder = this.#scopes.folderOf(scope);
    return folder === null ? [] : listFiles(folder, prefix, this.#sizesOf(scope));
  }

  sizeOf(scope: string, path: string): number | null {
    return this.#scopes.useFile(scope, path, (folder, name) => folder.sizeOf(name, path));
  }

  bytesUsed(scope: string): number {
    let bytes = this.#bytesUsed.get(scope);
    if (bytes === undefined) {
      const folder = this.#scopes.folderOf(scope);
      bytes = folder === null ? 0 : bytesBelow(folder, this.#sizesOf(scope));
      this.#bytesUsed.set(scope, bytes);
    }
    return bytes;
  }

  survey(scope: string): ScopeSurvey {
    const folder = this.#scopes.folderOf(scope);
    return folder === null
      ? { files: [], unfit: [] }
      : surveyFiles(folder, this.#mountedScope === null ? null : hostFolder);
  }

  bytesOf(scope: string, path: string): Uint8Array | null {
    const bytes = this.#scopes.useFile(scope, path, (folder, name) => folder.read(name, path));
    this.#seen.set(`${scope}:${path}`, { scope, path, digest: digestOf(bytes) });
    return bytes;
  }

  #sizesOf(scope: string): KnownSizes {
    const known: KnownSizes = this.#sizes.get(scope) ?? new Map();
    this.#sizes.set(scope, known);
    return known;
  }

  [Symbol.dispose](): void {
    this.#scopes[Symbol.dispose]();
  }
}
