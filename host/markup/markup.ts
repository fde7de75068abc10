/**
 * One template tag makes all HTML. The literals are trusted. Every inserted string is untrusted: it is escaped, isolated
 * from the text around it, and its invisible characters are replaced. There is no way around this: trusted markup is
 * always a template literal. Only an `Address` can be where a link or a form leads.
 */
import { pageLimits } from "../../shared/limits.ts";

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

/** Where a link or a form leads. Only this file can create one. */
export class Address {
  readonly #text: string;

  constructor(key: typeof madeHere, text: string) {
    if (key !== madeHere) throw new TypeError("Cannot make an address of a string: only addressBelow and addressOf do");
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

/**
 * An address on the same server: names below a path that is ours. Throws a `TypeError` for names that a browser would
 * take for steps.
 */
export function addressBelow(
  base: string,
  names: readonly string[],
  query: Readonly<Record<string, string>> = {},
): Address {
  if (names.some((name) => name === "" || name === "." || name === ".."))
    throw new TypeError("Cannot make an address: a name is empty or a step");
  const path = [base, ...names.map(encodeURIComponent)].join("/");
  const asked = new URLSearchParams(query).toString();
  return new Address(madeHere, asked === "" ? path : `${path}?${asked}`);
}

/** An address of another server, which the operator has configured. */
export function addressOf({ protocol, href }: URL): Address {
  if (protocol === "https:" || protocol === "http:") return new Address(madeHere, href);
  throw new TypeError(`Cannot link to an address with ${protocol}`);
}

/** A string is text, `null` is empty, a list is its parts in order. An address fits only where one is expected. */
export type Value = string | number | null | Markup | Address | readonly Value[];

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

/**
 * A whole text, or a line of one, for a `<pre>`: its lines and tabs stay, hidden characters are shown as their code points, and
 * nothing is cut but runs of these. A parser takes a line end away that is first in a `<pre>`: put an element around it.
 */
export function preformatted(text: string): Markup {
  const pieces = text.replaceAll("\r\n", "\n").split(/([\n\t])/);
  const shown = pieces.map((piece, at) =>
    at % 2 === 1 ? piece : spans(visibleParts(piece, Infinity), escaped).join(""),
  );
  return new Markup(madeHere, shown.join(""));
}

/** A whole text for a `<textarea>`, to be sent back as it is: see `canBeTyped`. A parser takes the first line end away. */
export const editable = (text: string): Markup => new Markup(madeHere, `\n${escaped(text)}`);

/**
 * Whether a browser sends a text back as it is, but for its line ends, which come as CRLF: it takes a lone CR for a line end
 * and NUL for another character.
 */
export const canBeTyped = (text: string): boolean =>
  !text.includes("\0") && !text.replaceAll("\r\n", "").includes("\r") && text.isWellFormed();

/** Whether a text has characters that are shown as their code points, but for line ends and tabs. */
export const hasUnseen = (text: string): boolean => unseenRun.test(text.replaceAll(/[\r\n\t]/g, " "));

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
  if (value instanceof Address) return isolated(value.toString());
  if (typeof value === "number") return value.toLocaleString("en-GB");
  if (typeof value === "string") return isolated(value);
  return value.map(textOf).join("");
}

/** `<bdi>` prevents a right-to-left name from reordering the text beside it. */
function isolated(text: string): string {
  return `<bdi>${spans(visibleParts(text), breakable).join("<wbr>")}</bdi>`;
}

const spans = (parts: readonly TextPart[], show: (text: string) => string): string[] =>
  parts.map(({ kind, text }) => (kind === "shown" ? show(text) : `<span class="${kind}">${escaped(text)}</span>`));

const breakable = (text: string): string =>
  wordParts(text)
    .map((parts) => parts.map(escaped).join("<wbr>"))
    .join("");

/** The attributes that may have a text. None can load, run or style anything. */
const attribute =
  /\s(?:(?:id|name|for|class|colspan|datetime|aria-label|aria-labelledby|aria-describedby|data-label|viewBox|x|y|width|height)="|content="default-src |href="#)[^"]*$/;

/** Those that may have an address, and the one that sends a text back exactly. */
const leading = /\s(?:href="|action="|content="0;url=)$/;
const sentBack = /\svalue="$/;

function attributeOf(value: Value, made: string): string {
  const tag = made.slice(made.lastIndexOf("<"));
  if (value instanceof Address && leading.test(tag)) return escaped(value.toString());
  if (typeof value === "string" && sentBack.test(tag) && !/[\p{Cc}\p{Cs}]/u.test(value)) return escaped(value);
  if (!attribute.test(tag))
    throw new TypeError(`Cannot put a value into ${tag}: no attribute that may hold it is open`);
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

/** Letters and marks of scripts whose words need ZWJ and ZWNJ. */
const joined = `[${["Arab", "Syrc", "Deva", "Beng", "Guru", "Gujr", "Orya", "Taml", "Telu", "Knda", "Mlym", "Sinh", "Khmr", "Mymr", "Mong"].map((script) => String.raw`\p{scx=${script}}`).join("")}]`;
/**
 * In a capture group, so that `split` keeps the matches. What chooses the form of an emoji or joins two, and what joins or parts
 * letters where words need that, hides nothing.
 */
const unseenRun = new RegExp(
  String.raw`((?:(?! |(?<=\p{Emoji})[\ufe0e\ufe0f]|(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])\u200d(?=\p{Extended_Pictographic})|(?<=${joined})[\u200c\u200d](?=${joined}))[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?<=\p{M}\p{M})\p{M})+)`,
  "u",
);

/**
 * Splits text from a plugin, a policy or a log into visible and invisible parts. Invisible are control characters,
 * characters that reorder or hide text, unusual spaces, and stacked combining marks, which would cover other lines.
 */
export function visibleParts(text: string, charsMax: number = pageLimits.textCharsMax): TextPart[] {
  const kept = cutAt(text, charsMax);
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
