/**
 * The page's HTML is made by one tag. What stands in a template literal is ours; every string that is put into it is
 * somebody else's, and is escaped, isolated from the text around it, and freed of what cannot be seen. There is no way
 * to say otherwise: what we write ourselves is a template literal too.
 */
import { pageLimits } from "../../../shared/limits.ts";

/** HTML that is safe as it is. Only this file makes one. */
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

/** A string is text; `null` is nothing; a list is its parts in order. */
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

/** Text for a place that takes no elements: a document's title, a title or description in a picture. */
export function plain(text: string): Markup {
  const parts = visibleParts(text).map(({ kind, text: part }) => (kind === "unseen" ? `[${part}]` : part));
  return new Markup(madeHere, escaped(parts.join("")));
}

/** A style sheet of ours; as everything between its tags is read as style, it must not hold what ends it. */
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

/** `<bdi>` keeps a right-to-left name from turning what stands beside it. */
function isolated(text: string): string {
  const parts = visibleParts(text).map(({ kind, text: part }) => {
    return kind === "shown" ? escaped(part) : `<span class="${kind}">${escaped(part)}</span>`;
  });
  return `<bdi>${parts.join("")}</bdi>`;
}

/** Attributes that may hold a value. None of them can load, run or style anything; a link leads into the page. */
const attribute =
  /\s(?:(?:id|class|colspan|aria-label|aria-labelledby|aria-describedby|datetime|viewBox|x|y|width|height)="|content="default-src |href="#)[^"]*$/;

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
  /** `unseen`: the text is the name of a character, as `U+202E`. `cut`: it says how much is not shown. */
  readonly kind: "shown" | "unseen" | "cut";
  readonly text: string;
}

/** In a group of its own, so that a text that is split by it keeps it. */
const unseenRun =
  /((?:(?! )[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?<=\p{M}\p{M})\p{M})+)/u;

/**
 * Text that comes from a plugin, a policy or a log, cut into what can be seen and what cannot: control characters,
 * characters that turn or hide text, spaces that are not the space, and marks piled on each other until they cover other
 * lines.
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
  return text.length <= charsMax ? text : text.slice(0, charsMax).replace(/[\ud800-\udbff]$/, "");
}
