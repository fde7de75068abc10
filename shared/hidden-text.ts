/**
 * The one rule about characters that a person cannot see. Text can carry words in them that a model reads and nobody
 * else does: as tag characters, as variation selectors, as zero-width characters.
 *
 * A hidden character is allowed where it changes what a person sees: inside an emoji, after an ideograph, between the
 * letters of Persian or Hindi. Anywhere else a tool for models refuses it, and text that is there anyway shows it as its
 * escape, such as `\u200b` or `\u{e0069}`.
 *
 * The ranges are written out, because engines differ in the version of Unicode that they know. Tab and line ends are no
 * hidden characters. Nor are the other controls of ASCII in a text of many lines: editors show them, and JSON has them
 * only as escapes.
 */
import { escapeOf, mayHide } from "./text.ts";

/** Joiners, selectors, fillers, marks of direction, separators, tags, controls of layout, noncharacters, lone surrogates. */
const hidden = String.raw`\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ud800-\udfff\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\u{13430}-\u{1343f}\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}${lastOfPlanes()}`;

/** The last two code points of each plane are no characters. */
function lastOfPlanes(): string {
  const planes = Array.from({ length: 16 }, (_, at) => (at + 1).toString(16));
  return planes.map((plane) => `\\u{${plane}fffe}\\u{${plane}ffff}`).join("");
}

const emoji = String.raw`[\xa9\xae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff\u3030\u303d\u3297\u3299\u{1f000}-\u{1faff}]`;
const selector = String.raw`[\ufe0e\ufe0f]`;
const ideograph = String.raw`[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u{20000}-\u{3fffd}]`;
const mongolian = String.raw`[\u1820-\u18aa]`;
/** Letters and marks of Arabic, Syriac, Indic and other scripts in which joiners change the shapes beside them. */
const joined = String.raw`[\u0620-\u06dc\u06de-\u070d\u0710-\u077f\u07c0-\u085f\u0860-\u0e00\u0f00-\u109f\u1780-\u17b3\u17b6-\u17ff\u1820-\u18aa\u1900-\u1cff\ua800-\uabff\ufb50-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc\u{10a00}-\u{10aff}\u{10d00}-\u{11fff}\u{1e900}-\u{1e95f}]`;
/** Scripts without spaces between words: Thai, Lao, Tibetan, Myanmar, Khmer. */
const unspaced = String.raw`[\u0e00-\u109f\u1780-\u17b3\u17b6-\u17ff]`;

/** Where hidden characters change what a person sees: each alternative begins with what can be seen. */
const allowed = [
  // The flags of England, Scotland and Wales. Any other row of tags is text that nobody sees.
  String.raw`\u{1f3f4}\u{e0067}\u{e0062}(?:\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073})\u{e007f}`,
  `${emoji}${selector}?\\u200d(?=${emoji})`,
  `${emoji}${selector}`,
  `[0-9#*]${selector}`,
  String.raw`${ideograph}[\ufe00-\ufe02\u{e0100}-\u{e011f}]`,
  String.raw`[\u2018\u2019\u201c\u201d\u3001\u3002\uff01-\uff5e][\ufe00\ufe01]`,
  String.raw`[0\u1000-\u109f\u2200-\u22ff\u2a00-\u2aff\ua840-\ua87f\uaa60-\uaa7f]\ufe00`,
  String.raw`${mongolian}[\u180b-\u180d\u180f](?:\u180e(?=${mongolian}))?`,
  String.raw`${mongolian}\u180e(?=${mongolian})`,
  `${joined}[\\u200c\\u200d]`,
  `(?<![\\u200c\\u200d])[\\u200c\\u200d](?=${joined})`,
  `${unspaced}\\u200b(?=${unspaced})`,
].join("|");

/** What such a sequence can begin with, or a hidden character: most characters are neither, and need one look. */
const beginning = [
  emoji,
  ideograph,
  joined,
  unspaced,
  mongolian,
  String.raw`[0-9#*\u2018\u2019\u201c\u201d\u2200-\u22ff\u2a00-\u2aff\u3001\u3002\uff01-\uff5e\ua840-\ua87f]`,
]
  .map((each) => each.slice(1, -1))
  .join("");

const allowedOrHidden = new RegExp(`(?=[${beginning}${hidden}])(?:${allowed}|([${hidden}]))`, "gu");

/** What is allowed by the line that it is in: marks of direction in a line from right to left, the blank of Braille. */
const directionMark = /[\u061c\u200e\u200f]/;
const rightToLeft = /[\u0590-\u061b\u061d-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]|[\ud802\ud803\ud83a\ud83b][\udc00-\udfff]/;
const byteOrderMark = "\ufeff";
const brailleBlank = "\u2800";
const braille = /[\u2801-\u28ff]/;

/** Marks beside each other say nothing to a person that one does not. */
const markOrJoiner = /[\u061c\u200b-\u200f]/;

/** A hidden character, and where it is in UTF-16 units. */
export interface HiddenCharacter {
  readonly at: number;
  readonly character: string;
}

/**
 * A line is a name, a description, a tag: what a person reads at a glance. A body is a text of many lines, which must come
 * back byte for byte, so what people paste by mistake stays in it: up to eight hidden characters that stand alone and
 * carry nothing, such as a soft hyphen, and separators of lines.
 */
export type TextKind = "line" | "body";

const straysMax = 8;

/** Tags, the other selectors beside them, and what is no character: these are never a mistake. */
const carries = new RegExp(`[\\u{e0000}-\\u{e0fff}\\ud800-\\udfff\\ufdd0-\\ufdef\\ufffe\\uffff${lastOfPlanes()}]`, "u");

const separator = /[\u2028\u2029]/;

/** The first hidden character of a text; `null` if there is none. */
export function firstHidden(text: string, kind: TextKind = "line"): HiddenCharacter | null {
  return hiddenOf(text, kind)[0] ?? null;
}

/** A text with each hidden character as its escape; a byte order mark at the start of a line is left out. */
export function withoutHidden(text: string, kind: TextKind = "line"): string {
  let [shown, end] = ["", 0];
  for (const { at, character } of hiddenOf(text, kind)) {
    shown += text.slice(end, at) + (at === 0 && character === byteOrderMark ? "" : escapeOf(character));
    end = at + character.length;
  }
  return end === 0 ? text : shown + text.slice(end);
}

function hiddenOf(text: string, kind: TextKind): HiddenCharacter[] {
  if (!mayHide(text)) return [];
  const lines = new Lines(text);
  const found: HiddenCharacter[] = [];
  for (const { 1: character, index: at } of text.matchAll(allowedOrHidden)) {
    if (character !== undefined && !lines.allow(character, at)) found.push({ at, character });
  }
  return kind === "line" ? found : withoutStrays(found.filter(({ character }) => !separator.test(character)));
}

function withoutStrays(found: readonly HiddenCharacter[]): HiddenCharacter[] {
  const isAlone = ({ at, character }: HiddenCharacter, place: number): boolean => {
    const before = found[place - 1];
    const isBehind = before !== undefined && before.at + before.character.length === at;
    return !isBehind && found[place + 1]?.at !== at + character.length && !carries.test(character);
  };
  const others = found.filter((each, place) => !isAlone(each, place));
  return found.length - others.length > straysMax ? [...found] : others;
}

/** "U+200B at character 5 of line 2": for whoever has to remove it. */
export function hiddenPlace(text: string, { at, character }: HiddenCharacter): string {
  const before = text.slice(0, at).split("\n");
  const column = Array.from(before.at(-1) ?? "").length + 1;
  const where = text.includes("\n") ? ` of line ${before.length}` : "";
  const hex = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  return `U+${hex} at character ${column}${where}`;
}

/** Looks at the line of a mark, and at each line only once. */
class Lines {
  readonly #text: string;
  #start = 0;
  #end = -1;
  #isRightToLeft = false;
  #hasBraille = false;

  constructor(text: string) {
    this.#text = text;
  }

  allow(character: string, at: number): boolean {
    if (character === brailleBlank) return this.#look(at).#hasBraille;
    if (!directionMark.test(character)) return false;
    const beside = `${this.#text[at - 1] ?? ""}${this.#text[at + 1] ?? ""}`;
    return !markOrJoiner.test(beside) && this.#look(at).#isRightToLeft;
  }

  #look(at: number): this {
    if (at >= this.#start && at <= this.#end) return this;
    const end = this.#text.indexOf("\n", at);
    this.#start = this.#text.lastIndexOf("\n", at) + 1;
    this.#end = end === -1 ? this.#text.length : end;
    const line = this.#text.slice(this.#start, this.#end);
    this.#isRightToLeft = rightToLeft.test(line);
    this.#hasBraille = braille.test(line);
    return this;
  }
}
