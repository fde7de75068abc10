import { encodeContent } from "./content-line.ts";
import type { ContentBase } from "./content-line.ts";

/** A content that a version has written, by its place. */
export interface WrittenContent {
  readonly key: string;
  readonly sha256: string;
  readonly content: Buffer;
}

/** How many bytes of a home's contents are remembered. */
const bytesMax = 256 * 1024;

/** The last contents of files in the segment that is written to: the next version of a file is told from them. */
export class ContentBases {
  readonly #bases = new Map<string, ContentBase>();
  #bytes = 0;

  /** Returns the line of a content, and remembers it. */
  encode({ key, sha256, content }: WrittenContent): string {
    const { line, depth } = encodeContent(sha256, content, this.#bases.get(key) ?? null);
    this.#forget(key);
    if (content.length <= bytesMax) {
      if (this.#bytes + content.length > bytesMax) this.clear();
      this.#bases.set(key, { sha256, content, depth });
      this.#bytes += content.length;
    }
    return line;
  }

  /** Another segment begins. */
  clear(): void {
    this.#bases.clear();
    this.#bytes = 0;
  }

  #forget(key: string): void {
    this.#bytes -= this.#bases.get(key)?.content.length ?? 0;
    this.#bases.delete(key);
  }
}
