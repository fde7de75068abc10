/** How addresses name a file of the memory, and a run or a source. */
import { createHash } from "node:crypto";

import { shownPath } from "../../../../shared/encoded-name.ts";
import { ToolError } from "../../../values/tool-error.ts";
import { NothingHere } from "./visit.ts";
import type { Fields } from "./visit.ts";

export interface Place {
  readonly scope: string;
  readonly path: string;
}

export const placeNames = ({ scope, path }: Place): string[] => [scope, ...path.split("/")];

/** The names of the screen of an entry. */
export const entryNames = (place: Place): string[] => ["entry", ...placeNames(place)];

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

/** Whether a name of an address or a form is one of some closed words. */
export const isIn = <Words extends object>(words: Words, name: string): name is string & keyof Words =>
  Object.hasOwn(words, name);

/** The hash of what a person was shown. Every form of ours that is about a text has it. */
export function shaIn(sent: Fields): string {
  const sha = sent.get("sha") ?? "";
  if (/^[0-9a-f]{64}$/.test(sha)) return sha;
  throw new ToolError("INPUT_INVALID", "The form does not say which text was shown. Look at the entry again");
}

/** A program has named it with any text: an address has a part of its hash. */
export const sourceId = ({ kind, name }: { readonly kind: "run" | "source"; readonly name: string }): string =>
  createHash("sha256").update(`${kind}\n${name}`).digest("hex").slice(0, 32);
