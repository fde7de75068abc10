import type { ListedFile } from "../../shared/abi.ts";
import type { Seen } from "../values/change-set.ts";
import { SeenFiles } from "./reading.ts";
import type { HeldReader, ScopeSurvey } from "./store.ts";

/** A user's files, for synchronous reads. Can hold folders open until it is disposed of. */
export interface DirectFiles extends Partial<Disposable> {
  scopes(): string[];
  list(scope: string, prefix: string): ListedFile[];
  survey(scope: string): ScopeSurvey;
  bytesUsed(scope: string): number;
  /** A copy of a file's bytes, which the caller may change; `null` if there is no file. */
  bytesOf(scope: string, path: string): Uint8Array | null;
}

/** The host's own reads of a user that it holds. The first read opens the files. */
export class HeldReads implements HeldReader {
  readonly #open: () => DirectFiles;
  #opened: DirectFiles | null = null;
  #isEnded = false;
  readonly #seen = new SeenFiles();

  constructor(open: () => DirectFiles) {
    this.#open = open;
  }

  get seen(): readonly Seen[] {
    return this.#seen.list();
  }

  async scopes(): Promise<string[]> {
    return this.#files.scopes();
  }

  async list(scope: string, prefix: string): Promise<ListedFile[]> {
    return this.#files.list(scope, prefix);
  }

  async survey(scope: string): Promise<ScopeSurvey> {
    return this.#files.survey(scope);
  }

  async bytesUsed(scope: string): Promise<number> {
    return this.#files.bytesUsed(scope);
  }

  async bytesOf(scope: string, path: string): Promise<Uint8Array | null> {
    const bytes = this.#files.bytesOf(scope, path);
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

  get #files(): DirectFiles {
    if (this.#isEnded) throw new RangeError("The user is no longer held");
    this.#opened ??= this.#open();
    return this.#opened;
  }
}
