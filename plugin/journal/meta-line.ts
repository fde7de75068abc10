/** The meta line, which ends a block: when it was written, and its tags. The format is agentool's. */
import { journalLimits } from "./journal-limits.ts";
import { normalTags } from "./tags.ts";
import { trim } from "./white-space.ts";

export const metaMark = "<!-- agentool-memory:";

/** Precedes the tags in a meta line. */
export const tagsMark = " tags=";

export interface Meta {
  /** The text after `at=`, unchecked. */
  readonly at: string;
  /** The text after `tags=`, for `splitTags`. */
  readonly tags: string;
}

export function formatMeta({ at, tags }: { readonly at: string; readonly tags: readonly string[] }): string {
  return `${metaMark} at=${at}${tags.length === 0 ? "" : ` tags=${tags.join("|")}`} -->`;
}

/** Returns `null` for a line that begins like a meta line but is not one, and for a line too long for any answer. */
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

/** Called only for requested blocks, because a file can have a million tags. */
export function splitTags(text: string): string[] {
  return normalTags(text.split("|"));
}
