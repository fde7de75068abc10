import type { ListedFile } from "../../../shared/abi.ts";
import type { Seen } from "../../values/change-set.ts";
import { SeenFiles } from "../seen-files.ts";
import type { HeldReader, ScopeSurvey } from "../store.ts";
import type { UserFiles } from "./user-files.ts";

/** What the host reads of a user whom it holds. */
export class HeldMemory implements HeldReader {
  readonly #files: UserFiles;
  readonly #seen = new SeenFiles();

  constructor(files: UserFiles) {
    this.#files = files;
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

  /** A copy: whoever asks may change it. */
  async bytesOf(scope: string, path: string): Promise<Uint8Array | null> {
    const kept = this.#files.read(scope, path);
    this.#seen.note(scope, path, kept);
    return kept && Buffer.from(kept);
  }
}
