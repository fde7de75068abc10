/** Compares two answers. They may differ only by the holes that memcell closes, which it counts by name. */
import { escaped, forges, normalised, trimmed } from "./block-text.ts";
import type { Answer, Shown } from "./stage.ts";

/** The intended differences between memcell and agentool. */
export type Hole =
  | "escaped"
  | "tags kept"
  | "tag refused"
  | "key refused"
  | "created kept"
  | "empty lines"
  | "wanted tags";

export class Comparison {
  readonly counts: Partial<Record<Hole, number>> = {};
  /** For each content that memcell has escaped: agentool's view of it, and memcell's. */
  readonly #unescaped = new Map<string, string>();

  count(hole: Hole): void {
    this.counts[hole] = (this.counts[hole] ?? 0) + 1;
  }

  /** Returns the text to send to agentool for a content. Later answers with that text stand for the content. */
  forAgentool(content: string): string {
    if (!forges(content)) return content;
    this.count("escaped");
    const written = escaped(content);
    this.#unescaped.set(normalised(written), normalised(content));
    return written;
  }

  /** The tags of a search: agentool trims the tags of blocks, but not those of a search. */
  wanted(tags: readonly string[]): readonly string[] {
    const found = tags.map(trimmed).filter((tag) => tag !== "");
    if (found.join("|") !== tags.join("|")) this.count("wanted tags");
    return found;
  }

  /** agentool's answer, in the form in which memcell must give it. */
  expected(theirs: Answer, ours: Answer): Answer {
    if ("code" in theirs || "code" in ours) return theirs;
    const { results } = theirs.data as { results?: readonly Shown[] };
    const found = (ours.data["results"] ?? []) as readonly Shown[];
    if (!results) return { success: true, data: this.#withTimes(theirs.data, ours.data) };
    return { success: true, data: { results: results.map((shown, at) => this.#block(shown, found[at])) } };
  }

  #block<Data extends Partial<Shown>>(theirs: Data, ours: Partial<Shown> | undefined): Data {
    if (theirs.content === undefined) return theirs;
    const content = this.#unescaped.get(theirs.content) ?? theirs.content;
    if (content === ours?.content || ours?.content === undefined) return { ...theirs, content };
    // agentool's update leaves an empty line in place of the block. A block before it without a meta line includes it.
    if (squeezed(content) !== squeezed(ours.content)) return { ...theirs, content };
    this.count("empty lines");
    return { ...theirs, content: ours.content };
  }

  /** Each side has its own times of the run. Hand-written times must be equal. */
  #withTimes(theirs: Readonly<Record<string, unknown>>, ours: Readonly<Record<string, unknown>>): typeof theirs {
    const shown = this.#block(theirs, ours);
    const { updated_at: at } = theirs;
    if (typeof at !== "string") return shown;
    const isByHand = at === "" || /^(?:1999|2099)/.test(at);
    const { updated_at: ourAt, created_at: created } = ours;
    const updated = isByHand || typeof ourAt !== "string" || !/^20[2-8]\d-/.test(ourAt) ? at : ourAt;
    if (created === ourAt) return { ...shown, updated_at: updated, created_at: updated };
    this.count("created kept");
    return { ...shown, updated_at: updated, created_at: created };
  }
}

const squeezed = (text: string): string => text.replaceAll(/\n(?:\p{White_Space}*\n)+/gu, "\n\n");
