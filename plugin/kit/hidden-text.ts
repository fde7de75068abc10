/** Hidden characters in what a model reads and writes: the rule is in `shared/hidden-text.ts`. */
import { escapeOf, mayHide } from "../../shared/text.ts";
import { firstHidden, hiddenPlace, withoutHidden } from "./hidden-text.deferred.ts";

/** A name, a tag, a line as a model gets it: with each hidden character as its escape. */
export const shown = (text: string): string => (mayHide(text) ? withoutHidden(text) : text);

/** The same for a text of many lines, which keeps what people paste by mistake. */
export const shownBody = (text: string): string => (mayHide(text) ? withoutHidden(text, "body") : text);

/** Controls that are neither tab nor line end. In JSON they are escapes; these texts go to a model as they are. */
const controls = /* @__PURE__ */ new RegExp(String.raw`[\0-\x08\v\f\x0e-\x1f]`, "g");

/** The same for a text of many lines that is not sent as JSON. */
export const shownLines = (text: string): string => shown(text).replaceAll(controls, escapeOf);

/** The text that is shown like this: a model names what it has been shown. `null` if it is shown as it is. */
export function meantBy(given: string): string | null {
  if (!given.includes("\\u")) return null;
  const meant = given.replaceAll(escape, (_, long: string | undefined, short: string | undefined) =>
    String.fromCodePoint(Math.min(parseInt(long ?? short ?? "", 16), 0x10ffff)),
  );
  return meant !== given && shown(meant) === given ? meant : null;
}

const escape = /\\u(?:\{([0-9a-f]{5,6})\}|([0-9a-f]{4}))/g;

/** Where the first hidden character of a text is, for whoever has to remove it; `null` if there is none. */
export function hiddenIn(text: string): string | null {
  const first = mayHide(text) ? firstHidden(text) : null;
  return first && hiddenPlace(text, first);
}

/** The same for a text of many lines. */
export function hiddenInBody(text: string): string | null {
  const first = mayHide(text) ? firstHidden(text, "body") : null;
  return first && hiddenPlace(text, first);
}

/** What is allowed in a field of many lines, and of a text with a hidden character which one is not. */
export const seenOnly =
  (allowed: string) =>
  ({ input }: { readonly input: unknown }): string => {
    const place = typeof input === "string" && input.isWellFormed() ? hiddenInBody(input) : null;
    return place === null ? allowed : `${allowed}; ${whyRefused(place)}`;
  };

export const whyRefused = (place: string): string =>
  `without ${place}, which a person cannot see: leave it out, or write its code`;

/**
 * What a doctor says of a text in a file that has such a character, as a clause; `null` if it has none. `what`: "its
 * text". A byte order mark at the start is of no interest.
 */
export const hiddenFault = (what: string, text: string): string | null =>
  faultAt(what, hiddenInBody(text.startsWith("\ufeff") ? text.slice(1) : text));

/** The same for a name or a description. */
export const hiddenLineFault = (what: string, text: string): string | null => faultAt(what, hiddenIn(text));

const faultAt = (what: string, place: string | null): string | null =>
  place && `${what} has ${place}, which a person cannot see; models see its code instead`;

/** The JSON of an answer that a model can get. `json`: that of `value`, in which all lines of a text are one. */
export function shownJson(json: string, value: object): string {
  return !mayHide(json) ? json : JSON.stringify(value, (_, each: unknown) => shownIn(each));
}

function shownIn(value: unknown): unknown {
  if (typeof value === "string") return shownBody(value);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [shown(name), each]));
}
