import { lowestOf } from "../../../shared/origin.ts";
import type { OriginClass } from "../../../shared/origin.ts";
import type { HeldHistory } from "./held-history.ts";
import { lowestByContent } from "./lowest-by-content.ts";

/** Where a file's content comes from. */
export interface ContentOrigin {
  readonly class: OriginClass;
  readonly trust: OriginClass;
  /** When it was written; `null` if that is not known. */
  readonly atMs: number | null;
}

/** Where the present contents of files come from, also of those that somebody has changed by hand. */
export class ContentOrigins {
  readonly #history: HeldHistory;
  #trusts: Promise<ReadonlyMap<string, OriginClass>> | null = null;

  constructor(history: HeldHistory) {
    this.#history = history;
  }

  /**
   * As the next version of the file will say, except for an earlier content that somebody has put back: to find it would
   * take all versions. `digest`: of the present content; `null` if it was not looked at. Then only what is on record
   * counts.
   */
  async of(scope: string, path: string, digest: string | null): Promise<ContentOrigin> {
    const known = await this.#history.originOf(scope, path);
    if (known !== null && (digest === null || digest === known.sha256)) return known;
    const { unknown, isBroken } = this.#history;
    const moved = known === null && digest !== null ? await this.#trustOfContent(digest) : null;
    const lost = isBroken ? unknown : null;
    const trust = lowestOf(known?.trust ?? unknown, ...[moved, lost].filter((each) => each !== null));
    return { class: known === null ? unknown : "owner_edit", trust, atMs: null };
  }

  /** The lowest trust of the present files with a content, wherever they are; `null` if there is none. */
  async #trustOfContent(sha256: string): Promise<OriginClass | null> {
    this.#trusts ??= this.#history.origins().then((all) => lowestByContent(Array.from(all, ([, origin]) => origin)));
    return (await this.#trusts).get(sha256) ?? null;
  }
}
