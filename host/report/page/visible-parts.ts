/**
 * Text that comes from a plugin, a policy or a log, cut into what can be seen and what cannot: control characters,
 * characters that turn or hide text, spaces that are not the space, and marks piled on each other until they cover other
 * lines.
 */
import { pageLimits } from "../../../shared/limits.ts";

export interface TextPart {
  /** `unseen`: the text is the name of a character, as `U+202E`. `cut`: it says how much is not shown. */
  readonly kind: "shown" | "unseen" | "cut";
  readonly text: string;
}

const unseenRun =
  /(?:(?! )[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?<=\p{M}\p{M})\p{M})+/gu;

export function visibleParts(text: string): TextPart[] {
  const kept = cutAt(text, pageLimits.textCharsMax);
  const parts: TextPart[] = [];
  let from = 0;
  for (const { 0: run, index } of kept.matchAll(unseenRun)) {
    if (index > from) parts.push({ kind: "shown", text: kept.slice(from, index) });
    parts.push(...namesOf(Array.from(run)));
    from = index + run.length;
  }
  if (from < kept.length) parts.push({ kind: "shown", text: kept.slice(from) });
  const rest = text.length - kept.length;
  if (rest > 0) parts.push({ kind: "cut", text: `… and ${rest.toLocaleString("en-GB")} more characters` });
  return parts;
}

/** A long run would push what follows it out of sight. */
function namesOf(run: readonly string[]): TextPart[] {
  const named = run.slice(0, pageLimits.unseenRunMax).map((character): TextPart => {
    const hex = (character.codePointAt(0) ?? 0).toString(16).toUpperCase();
    return { kind: "unseen", text: `U+${hex.padStart(4, "0")}` };
  });
  const rest = run.length - named.length;
  return rest > 0 ? [...named, { kind: "cut", text: `and ${rest.toLocaleString("en-GB")} more of the kind` }] : named;
}

/** Never between the halves of a pair, which would then be shown as two characters that are not there. */
function cutAt(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  const isSplit = /[\ud800-\udbff]/.test(text.charAt(charsMax - 1));
  return text.slice(0, isSplit ? charsMax - 1 : charsMax);
}
