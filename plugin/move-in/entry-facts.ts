/** What other programs say of a memory, in this memory's terms: its type, and when it was written. */
import type { EntryType } from "../user-memory/entry-types.ts";
import { entryTypes } from "../user-memory/entry-types.ts";

/** The type that words such as a category, tags or a type of another program mean; `otherwise` if they mean none. */
export function typeFrom(words: unknown, otherwise: EntryType): EntryType {
  for (const word of textsIn(words)) {
    const plain = word.toLowerCase().replaceAll(/[_-]/g, " ");
    const found = entryTypes.find((type) => type === plain) ?? meant.find(([pattern]) => pattern.test(plain))?.[1];
    if (found !== undefined) return found;
  }
  return otherwise;
}

const meant: readonly (readonly [RegExp, EntryType])[] = [
  [/\b(?:feedback|corrections?|lessons?|instructions?|rules?)\b/, "feedback"],
  [
    /\b(?:users?|preferences?|personal|persona|profile|identity|bio|family|health|hobb(?:y|ies)|interests?|food)\b/,
    "user",
  ],
  [/\b(?:projects?|work|tasks?|goals?|decisions?|architecture|professional)\b/, "project"],
  [/\b(?:references?|links?|urls?|resources?|docs?)\b/, "reference"],
];

/** The texts in a value and in what is directly inside. */
export function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).filter((each) => typeof each === "string");
}

/** A time as this memory writes it: of ISO 8601, a date in words, or seconds or milliseconds since 1970. `null`: none of these. */
export function timeFrom(value: unknown): string | null {
  if (typeof value !== "string" && typeof value !== "number") return null;
  const text = String(value).trim();
  if (/^\d{10}(?:\.\d+)?$/.test(text)) return isoOf(Math.round(Number(text) * 1_000));
  if (/^\d{13}$/.test(text)) return isoOf(Number(text));
  const [, year, month, day, hours = "00", minutes = "00", seconds = "00", fraction = "", zone = ""] =
    written.exec(text) ?? inWords(text) ?? [];
  if (year === undefined || month === undefined || day === undefined) return null;
  const offset =
    zone === "" || /^(?:z|utc)$/i.test(zone) ? "Z" : `${zone.slice(0, 3)}:${zone.slice(3).replace(":", "") || "00"}`;
  const date = `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`;
  return isoOf(Date.parse(`${date}T${hours}:${minutes}:${seconds}.${fraction.slice(0, 3).padEnd(3, "0")}${offset}`));
}

const written =
  /^(\d{4})[-/.](\d\d?)[-/.](\d\d?)(?:[T ]+(\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?: *(z|utc|[+-]\d\d(?::?\d\d)?))?)?$/i;

const months = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");

/** "May 1, 2024" or "1 May 2024", in the order of the pattern above. */
function inWords(text: string): string[] | null {
  const [whole = "", word, dayBehind, yearBehind] =
    /^([a-z]{3,9})\.? (\d\d?)(?:st|nd|rd|th)?,? (\d{4})$/i.exec(text) ?? [];
  const [, dayBefore, wordBehind, yearAfter] = /^(\d\d?)\.? ([a-z]{3,9})\.?,? (\d{4})$/i.exec(text) ?? [];
  const month = months.indexOf((word ?? wordBehind ?? "").slice(0, 3).toLowerCase()) + 1;
  const [day, year] = [dayBehind ?? dayBefore, yearBehind ?? yearAfter];
  return month === 0 || day === undefined || year === undefined ? null : [whole, year, String(month), day];
}

function isoOf(ms: number): string | null {
  if (!Number.isFinite(ms) || Math.abs(ms) > yearsMaxMs) return null;
  const text = new Date(ms).toISOString();
  return text.length === "2026-01-02T03:04:05.678Z".length ? text : null;
}

/** Beyond it no date can be formatted. */
const yearsMaxMs = 8.64e15;
