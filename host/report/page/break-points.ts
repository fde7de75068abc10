/** Where a line may end within a long name, hash or path: never between just any two letters. */

/** A shorter word fits every column, also on a narrow phone. It stays whole. */
const wordColumnsMax = 20;
/** A longer word without punctuation is split into parts of this size, so a hash becomes even lines. */
const partColumns = 16;

const words = /\s*\S+\s*|\s+/gu;
/** After punctuation, else before a capital letter. */
const boundaries = [/(?<=[^\p{L}\p{M}\p{N}])(?=[\p{L}\p{N}])/u, /(?<=\p{Ll})(?=\p{Lu})/u];

/** The words of a text with their white space, each in the parts between which a line may end. */
export function wordParts(text: string): string[][] {
  if (text.length <= wordColumnsMax / 2) return [[text]];
  return (text.match(words) ?? []).map((word) => partsOf(word));
}

function partsOf(word: string, [boundary, ...others] = boundaries): string[] {
  if (isShort(word)) return [word];
  if (!boundary) return equalParts(word);
  return word.split(boundary).flatMap((part) => partsOf(part, others));
}

const isShort = (word: string): boolean => word.length <= wordColumnsMax && columnsOf(word) <= wordColumnsMax;

const characters = new Intl.Segmenter();

function equalParts(word: string): string[] {
  const parts: string[] = [];
  let part = "";
  for (const { segment } of characters.segment(word)) {
    if (part !== "" && columnsOf(part + segment) > partColumns) {
      parts.push(part);
      part = "";
    }
    part += segment;
  }
  // A line never begins with the punctuation behind the word.
  return /[\p{L}\p{N}]/u.test(part) ? [...parts, part] : [...parts.slice(0, -1), `${parts.at(-1) ?? ""}${part}`];
}

/** About the width in a font whose letters are equally wide. Marks take no column. */
function columnsOf(text: string): number {
  let columns = 0;
  for (const character of text) columns += wide.test(character) ? 2 : mark.test(character) ? 0 : 1;
  return columns;
}

const wide = /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{Emoji_Presentation}\uff01-\uff60]/u;
const mark = /\p{M}/u;
