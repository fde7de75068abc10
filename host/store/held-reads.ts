import type { ListedFile } from "../../shared/abi.ts";
import type { Seen } from "../values/change-set.ts";
import { SeenFiles } from "./reading.ts";
import type { HeldReader, ScopeSurvey } from "./store.ts";

/** A user's files, for who may look at once. Some are held open until they are disposed of. */
export interface DirectFiles extends Partial<Disposable> {
  scopes(): string[];
  list(scope: string, prefix: string): ListedFile[];
  survey(scope: string): ScopeSurvey;
  bytesUsed(scope: string): number;
  /** A file's bytes; `null` when there is none. A copy: whoever asks may change it. */
  bytesOf(scope: string, path: string): Uint8Array | null;
}

/** What the host reads of a user whom it holds, from files that the first look opens. */
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

  /** Closes them: after a commit, the next look opens them anew. */
  forget(): void {
    this.#opened?.[Symbol.dispose]?.();
    this.#opened = null;
  }

  /** The user is held no more: nothing may be looked at, which nobody would close. */
  end(): void {
    this.forget();
    this.#isEnded = true;
  }

  get #files(): DirectFiles {
    if (this.#isEnded) throw new RangeError("The user is held no more");
    this.#opened ??= this.#open();
    return this.#opened;
  }
}
