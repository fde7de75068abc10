/** How addresses name a file of the memory, and a run or a source. */
import { createHash } from "node:crypto";

import { NothingHere } from "./visit.ts";

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

/** A program has named it with any text: an address has a part of its hash. */
export const sourceId = ({ kind, name }: { readonly kind: "run" | "source"; readonly name: string }): string =>
  createHash("sha256").update(`${kind}\n${name}`).digest("hex").slice(0, 32);
