/**
 * One template tag makes all HTML of the page. The literals are trusted. Every inserted string is untrusted: it is
 * escaped, isolated from the text around it, and its invisible characters are replaced. There is no way around this:
 * trusted markup is always a template literal.
 */
import { pageLimits } from "../../../shared/limits.ts";

/** Safe HTML. Only this file can create it. */
export class Markup {
  readonly #text: string;

  constructor(key: typeof madeHere, text: string) {
    if (key !== madeHere) throw new TypeError("Cannot make markup of a string: only html`…` does");
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

const madeHere = Symbol("made by html");

/** A string is text, `null` is empty, a list is its parts in order. */
export type Value = string | number | null | Markup | readonly Value[];

/**
 * ```ts
 * html`<td class="name">${tool.name}</td>`;
 * ```
 */
export function html(literals: TemplateStringsArray, ...values: readonly Value[]): Markup {
  let made = literals[0] ?? "";
  let written = made;
  for (const [at, value] of values.entries()) {
    made += isInsideTag(written) ? attributeOf(value, written) : textOf(value);
    written += literals[at + 1] ?? "";
    made += literals[at + 1] ?? "";
  }
  return new Markup(madeHere, made);
}

/** Text for a place that allows no elements, such as the title of the document or of a picture. */
export function plain(text: string): Markup {
  const parts = visibleParts(text).map(({ kind, text: part }) => (kind === "unseen" ? `[${part}]` : part));
  return new Markup(madeHere, escaped(parts.join("")));
}

/** A trusted style sheet. It must not contain the end of an element, because it is not escaped. */
export function styleElement(css: string): Markup {
  if (css.includes("</")) throw new TypeError("Cannot put a style sheet into the page: it holds the end of an element");
  return new Markup(madeHere, `<style>${css}</style>`);
}

function textOf(value: Value): string {
  if (value === null) return "";
  if (value instanceof Markup) return value.toString();
  if (typeof value === "number") return value.toLocaleString("en-GB");
  if (typeof value === "string") return isolated(value);
  return value.map(textOf).join("");
}

/** `<bdi>` prevents a right-to-left name from reordering the text beside it. */
function isolated(text: string): string {
  const parts = visibleParts(text).map(({ kind, text: part }) => {
    return kind === "shown" ? breakable(part) : `<span class="${kind}">${escaped(part)}</span>`;
  });
  return `<bdi>${parts.join("<wbr>")}</bdi>`;
}

const breakable = (text: string): string =>
  wordParts(text)
    .map((parts) => parts.map(escaped).join("<wbr>"))
    .join("");

/** The attributes that may have a value. None can load, run or style anything; links stay within the page. */
const attribute =
  /\s(?:(?:id|class|colspan|aria-label|aria-labelledby|aria-describedby|data-label|viewBox|x|y|width|height)="|content="default-src |href="#)[^"]*$/;

function attributeOf(value: Value, written: string): string {
  const tag = written.slice(written.lastIndexOf("<"));
  if (!attribute.test(tag))
    throw new TypeError(`Cannot put a value into ${tag}: no attribute that may hold one is open`);
  if (typeof value === "string") return plain(value).toString();
  if (typeof value === "number") return String(value);
  throw new TypeError(`Cannot put a value into ${tag}: only text and numbers fit an attribute`);
}

function isInsideTag(written: string): boolean {
  return written.lastIndexOf("<") > written.lastIndexOf(">");
}

function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}

export interface TextPart {
  /** `unseen`: the text is a code point, such as `U+202E`. `cut`: it says how much is not shown. */
  readonly kind: "shown" | "unseen" | "cut";
  readonly text: string;
}

/** In a capture group, so that `split` keeps the matches. */
const unseenRun =
  /((?:(?! )[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?<=\p{M}\p{M})\p{M})+)/u;

/**
 * Splits text from a plugin, a policy or a log into visible and invisible parts. Invisible are control characters,
 * characters that reorder or hide text, unusual spaces, and stacked combining marks, which would cover other lines.
 */
export function visibleParts(text: string): TextPart[] {
  const kept = cutAt(text, pageLimits.textCharsMax);
  const parts = kept.split(unseenRun).flatMap((part, at): TextPart[] => {
    if (at % 2 === 1) return namesOf(Array.from(part));
    return part === "" ? [] : [{ kind: "shown", text: part }];
  });
  const rest = text.length - kept.length;
  if (rest === 0) return parts;
  return [...parts, { kind: "cut", text: `… and ${rest.toLocaleString("en-GB")} more characters` }];
}

/** Cut, because a long run would push the text after it out of sight. */
function namesOf(run: readonly string[]): TextPart[] {
  const named = run.slice(0, pageLimits.unseenRunMax).map((character): TextPart => {
    const hex = (character.codePointAt(0) ?? 0).toString(16).toUpperCase();
    return { kind: "unseen", text: `U+${hex.padStart(4, "0")}` };
  });
  const rest = run.length - named.length;
  return rest > 0 ? [...named, { kind: "cut", text: `and ${rest.toLocaleString("en-GB")} more of the kind` }] : named;
}

/** Never cuts between the halves of a surrogate pair. */
function cutAt(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : text.slice(0, charsMax).replace(/[\ud800-\udbff]$/, "");
}

/** A shorter word fits every column, also on a narrow phone. It stays whole. */
const wordColumnsMax = 20;
/** A longer word without punctuation is split into parts of this size, so a hash becomes even lines. */
const partColumns = 16;

const words = /\s*\S+\s*|\s+/gu;
/** After punctuation, else before a capital letter. */
const boundaries = [/(?<=[^\p{L}\p{M}\p{N}])(?=[\p{L}\p{N}])/u, /(?<=\p{Ll})(?=\p{Lu})/u];

/**
 * The words of a text with their white space, each in the parts between which a line may end: within a long name, hash
 * or path, never between just any two letters.
 */
function wordParts(text: string): string[][] {
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
