import { isAtLeast, lowestOf } from "../../shared/origin.ts";
import type { OriginClass } from "../../shared/origin.ts";
import { digestOf } from "../store/reading.ts";
import { ContentOrigins } from "../store/versions/content-origins.ts";
import type { HeldHistory } from "../store/versions/held-history.ts";
import { lowestByContent } from "../store/versions/lowest-by-content.ts";
import type { MemoryFile } from "../values/memory-file.ts";
import { ToolError } from "../values/tool-error.ts";

type File = Omit<MemoryFile, "trust">;

/** Says of exported files how far they are trusted, if that is less than what nobody has told. */
export class ExportedTrust {
  readonly #history: HeldHistory;
  readonly #origins: ContentOrigins;
  #ofContents: Promise<ReadonlyMap<string, OriginClass>> | null = null;

  constructor(history: HeldHistory) {
    this.#history = history;
    this.#origins = new ContentOrigins(history);
  }

  /** The file, with its trust if that is low. */
  async told(file: File): Promise<MemoryFile> {
    const trust = await this.#of(file);
    return isAtLeast(trust, "unstated") ? file : { ...file, trust };
  }

  async #of({ scope, path, content }: File): Promise<OriginClass> {
    try {
      const digest = digestOf(Buffer.from(content)) ?? "";
      const { trust } = await this.#origins.of(scope, path, digest);
      if ((await this.#history.originOf(scope, path))?.sha256 === digest) return trust;
      // Somebody has put it there by hand, perhaps from an earlier version.
      return lowestOf(trust, (await this.#contents).get(digest) ?? trust);
    } catch (error) {
      // Of a file whose history cannot be used, nobody can say where it comes from. Its owner gets it all the same.
      if (error instanceof ToolError && error.code === "STORAGE_UNSAFE") return "untrusted_document";
      throw error;
    }
  }

  /** The lowest trust of versions with a content. */
  get #contents(): Promise<ReadonlyMap<string, OriginClass>> {
    this.#ofContents ??= this.#history.versions().then((all) => lowestByContent(all.flatMap(({ files }) => files)));
    return this.#ofContents;
  }
}
