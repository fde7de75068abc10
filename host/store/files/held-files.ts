import type { ListedFile } from "../../../shared/abi.ts";
import type { Seen } from "../../values/change-set.ts";
import type { HeldReader, ScopeSurvey } from "../store.ts";
import type { FileReader } from "./file-reader.ts";

/** What the host reads of a user whom it holds. The user's folder is opened by the first look, and closed with the hold. */
export class HeldFiles implements HeldReader, Disposable {
  readonly #open: () => FileReader;
  #opened: FileReader | null = null;

  constructor(open: () => FileReader) {
    this.#open = open;
  }

  get seen(): readonly Seen[] {
    return this.#opened?.seen ?? [];
  }

  async scopes(): Promise<string[]> {
    return this.#reader.scopes();
  }

  async list(scope: string, prefix: string): Promise<ListedFile[]> {
    return this.#reader.list(scope, prefix);
  }

  async survey(scope: string): Promise<ScopeSurvey> {
    return this.#reader.survey(scope);
  }

  async bytesUsed(scope: string): Promise<number> {
    return this.#reader.bytesUsed(scope);
  }

  async bytesOf(scope: string, path: string): Promise<Uint8Array | null> {
    return this.#reader.bytesOf(scope, path);
  }

  get #reader(): FileReader {
    this.#opened ??= this.#open();
    return this.#opened;
  }

  [Symbol.dispose](): void {
    this.#opened?.[Symbol.dispose]();
  }
}
