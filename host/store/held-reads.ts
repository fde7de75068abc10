import type { ListedFile } from "../../shared/abi.ts";
import type { Seen } from "../values/change-set.ts";
import { giveTurn } from "../values/turns.ts";
import type { HeldReader, ScopeSurvey, UnfitFile } from "./holding.ts";
import { SeenFiles } from "./reading.ts";
import type { ScopeSize } from "./scope-size.ts";

/** What an engine answers at once, or after a while. */
type Found<Value> = Value | Promise<Value>;

/** A user's files, as an engine reads them. Can hold folders open until it is disposed of. */
export interface DirectFiles extends Partial<Disposable> {
  scopes(): Found<string[]>;
  beside(): Found<UnfitFile[]>;
  /** Throws `QUOTA_EXCEEDED` if there are more than `filesMax`. */
  list(scope: string, prefix: string, filesMax: number): Found<ListedFile[]>;
  listTrash(scope: string): Found<ListedFile[]>;
  survey(scope: string): Found<ScopeSurvey>;
  scopeSize(scope: string): Found<ScopeSize>;
  /** A copy of a file's bytes, which the caller may change; `null` if there is no file. */
  bytesOf(scope: string, path: string): Found<Uint8Array | null>;
}

/**
 * The host's own reads of a user or store that it holds. The first read opens the files. An engine can answer at once,
 * so whoever reads many files gives others a turn here.
 */
export class HeldReads implements HeldReader {
  readonly #open: () => DirectFiles;
  readonly #unlisted: string;
  #opened: DirectFiles | null = null;
  #isEnded = false;
  readonly #seen = new SeenFiles();

  /** `unlisted`: a scope of which only single files can be read. */
  constructor(open: () => DirectFiles, { unlisted }: { readonly unlisted: string }) {
    this.#open = open;
    this.#unlisted = unlisted;
  }

  get seen(): readonly Seen[] {
    return this.#seen.list();
  }

  async scopes(): Promise<string[]> {
    return (await this.#files.scopes()).filter((scope) => scope !== this.#unlisted);
  }

  async beside(): Promise<UnfitFile[]> {
    return this.#files.beside();
  }

  async list(scope: string, prefix: string): Promise<ListedFile[]> {
    // Upkeep is there to relieve the limits of tools, so it has none.
    return this.#listed(scope).list(scope, prefix, Infinity);
  }

  async listTrash(scope: string): Promise<ListedFile[]> {
    return this.#listed(scope).listTrash(scope);
  }

  async survey(scope: string): Promise<ScopeSurvey> {
    return this.#listed(scope).survey(scope);
  }

  async scopeSize(scope: string): Promise<ScopeSize> {
    return this.#listed(scope).scopeSize(scope);
  }

  async bytesOf(scope: string, path: string): Promise<Uint8Array | null> {
    await giveTurn();
    const bytes = await this.#files.bytesOf(scope, path);
    this.#seen.note(scope, path, bytes);
    return bytes;
  }

  /** Closes the files. After a commit, the next read opens them again. */
  forget(): void {
    this.#opened?.[Symbol.dispose]?.();
    this.#opened = null;
  }

  /** Closes the files and refuses later reads: nobody would close what they open. */
  end(): void {
    this.forget();
    this.#isEnded = true;
  }

  #listed(scope: string): DirectFiles {
    if (scope === this.#unlisted) throw new RangeError(`Only single files of scope "${scope}" can be read`);
    return this.#files;
  }

  get #files(): DirectFiles {
    if (this.#isEnded) throw new RangeError("The user or store is no longer held");
    this.#opened ??= this.#open();
    return this.#opened;
  }
}
