/** The line that ends a block: when it was written, and its tags. Its form is agentool's. */
import { journalLimits } from "./journal-limits.ts";
import { normalTags } from "./tags.ts";
import { trim } from "./white-space.ts";

export const metaMark = "<!-- agentool-memory:";

/** Before the tags in a line of meta. */
export const tagsMark = " tags=";

export interface Meta {
  /** The text behind `at=`, whatever it is. */
  readonly at: string;
  /** The text behind `tags=`, for `splitTags`. */
  readonly tags: string;
}

export function formatMeta({ at, tags }: { readonly at: string; readonly tags: readonly string[] }): string {
  return `${metaMark} at=${at}${tags.length === 0 ? "" : ` tags=${tags.join("|")}`} -->`;
}

/** `null` for a line that begins as one and is none, and for one that no answer has room for. */
export function parseMeta(line: string): Meta | null {
  if (line.length > journalLimits.blockCharsMax) return null;
  const trimmed = trim(line);
  if (!trimmed.startsWith(metaMark)) return null;
  const inner = trim(trimmed.slice(metaMark.length));
  if (!inner.endsWith("-->")) return null;
  const fields = trim(inner.slice(0, -"-->".length));
  if (!fields.startsWith("at=")) return null;
  const tagsAt = fields.indexOf(tagsMark);
  if (tagsAt === -1) return { at: trim(fields.slice("at=".length)), tags: "" };
  return { at: trim(fields.slice("at=".length, tagsAt)), tags: fields.slice(tagsAt + tagsMark.length) };
}

/** A file may have a million of them: they are told apart only in the blocks that are asked for. */
export function splitTags(text: string): string[] {
  return normalTags(text.split("|"));
}
