/** How addresses name a file of the memory, and a run or a source. */
import { createHash } from "node:crypto";

import { shownPath } from "../../../../shared/encoded-name.ts";
import { html } from "../../../markup/markup.ts";
import type { Markup } from "../../../markup/markup.ts";
import type { FileVersion } from "../../../owner/file-version.ts";
import type { ListedEntry } from "../../../owner/own-entry.ts";
import type { Place } from "../../../values/change-set.ts";
import { ToolError } from "../../../values/tool-error.ts";
import { NothingHere } from "./visit.ts";
import type { Fields, Visit } from "./visit.ts";

export const placeNames = ({ scope, path }: Place): string[] => [scope, ...path.split("/")];

/** The names of the screen of an entry. */
export const entryNames = (place: Place): string[] => ["entry", ...placeNames(place)];

/** The names of the screen of an entry that shares its file. */
export const noteNames = ({ family, name }: Pick<ListedEntry, "family" | "name">): string[] => [
  "note",
  `${family}:${name}`,
];

export function placeIn([scope, ...path]: readonly string[]): Place {
  if (scope === undefined || path.length === 0) throw new NothingHere();
  return { scope, path: path.join("/") };
}

/** What a person calls a note: the last part of its name or its path, without an ending and with spaces. */
export const titleOf = (name: string): string => {
  const [last = ""] = shownPath(name).split("/").slice(-1);
  const title = last.replace(/\.md$/i, "").replaceAll(/[-_]+/g, " ").trim();
  return title === "" ? shownPath(name) : title;
};

/** A note, with its file: two can have one name. */
export const noteAt = (path: string): Markup => html`${titleOf(path)} <span class="note">${shownPath(path)}</span>`;

/** Times until now, by the word that an address or a form has for them. */
export const spans = {
  hour: { words: "60 minutes", ms: 3_600_000 },
  day: { words: "24 hours", ms: 86_400_000 },
  week: { words: "7 days", ms: 7 * 86_400_000 },
  month: { words: "30 days", ms: 30 * 86_400_000 },
} as const;

/** Whether a name of an address or a form is one of some closed words. */
export const isIn = <Words extends object>(words: Words, name: string): name is string & keyof Words =>
  Object.hasOwn(words, name);

/** The hash of what a person was shown. Every form of ours that is about a text has it. */
export function shaIn(sent: Fields): string {
  const sha = sent.get("sha") ?? "";
  if (/^[0-9a-f]{64}$/.test(sha)) return sha;
  throw new ToolError("INPUT_INVALID", "The form does not say which text was shown. Look at the entry again");
}

/** The run and the source of a text, for who may undo with a link to what else it has changed. */
export function sourcesOf({ to, person }: Visit, { run, source }: Pick<FileVersion, "run" | "source">) {
  const fact = (words: Markup, kind: "run" | "source", name: string | null) => {
    const link = html`<a href="${to(["undo", sourceId({ kind, name: name ?? "" })])}">See what it has changed</a>`;
    return name === null ? null : ([words, html`${name} ${person.mayChange ? link : null}`] as const);
  };
  return [fact(html`Task of an assistant`, "run", run), fact(html`Source`, "source", source)];
}

/** A program has named it with any text: an address has a part of its hash. */
export const sourceId = ({ kind, name }: { readonly kind: "run" | "source"; readonly name: string }): string =>
  createHash("sha256").update(`${kind}\n${name}`).digest("hex").slice(0, 32);
