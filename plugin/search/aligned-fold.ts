import { fold } from "./fold.ts";

/** A folded text, and where its parts are in the text that people wrote. */
export interface AlignedFold {
  readonly folded: string;
  /** The position in the original of a position in the folded text. */
  readonly originalOf: (position: number) => number;
}

/** ASCII, or a character with the accents, voicing marks and parts of a Korean syllable that follow it. */
const foldedAlone = /[\0-\x7f]+|[^\0-\x7f][\u0300-\u036f\u3099\u309a\u1160-\u11ff]*/gu;

/** Folding keeps the number of characters of nearly every text. Else each character beyond ASCII is folded alone. */
export function foldAligned(text: string): AlignedFold {
  const whole = fold(text);
  if (whole.length === text.length) return { folded: whole, originalOf: (position) => position };
  const parts = text.match(foldedAlone) ?? [];
  const starts: { readonly folded: number; readonly original: number }[] = [];
  let [folded, original] = ["", 0];
  for (const part of parts) {
    starts.push({ folded: folded.length, original });
    folded += fold(part);
    original += part.length;
  }
  const startOf = (position: number): { readonly folded: number; readonly original: number } =>
    starts.findLast((each) => each.folded <= position) ?? { folded: 0, original: 0 };
  return { folded, originalOf: (position) => startOf(position).original + position - startOf(position).folded };
}
