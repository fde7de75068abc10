/** The content of a user's folder and of shared stores, for comparisons. */
import { existsSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { readUserFiles, userFolder } from "../support/user-files.ts";
import { ownStore } from "./erase-steps.ts";
import { userId } from "./memory-steps.ts";
import { letters, storeOf } from "./model/store-operation.ts";

export type Files = Readonly<Record<string, string>>;

/** A user's files and those of all stores; empty if there is no folder. Hints to principals do not count. */
export function filesOf(dataDir: string): Files {
  const ofUser = existsSync(userFolder(dataDir, userId)) ? readUserFiles(dataDir, userId) : {};
  const stores = join(dataDir, "stores");
  const names = existsSync(stores) ? readdirSync(stores, { recursive: true, encoding: "utf8" }) : [];
  const ofStores = names
    .filter((name) => /^[^/]+\/(?:entries\/|\.memcell\/grants)/.test(name) && lstatSync(join(stores, name)).isFile())
    .map((name) => [`stores/${name}`, readFileSync(join(stores, name), "utf8")]);
  return { ...ofUser, ...Object.fromEntries(ofStores) };
}

/** Hides the times in the trash's names: an interrupted recovery can put the same text aside twice. */
const shownPath = (path: string): string => path.replace(/\.\d{8}T\d{9}Z(?:-\d+)?\./, ".<time>.");

/** Leaves out the copies of earlier versions that recovery has put into the trash. */
export function withoutCopies(found: Files, wanted: Files, earlier: readonly Files[]): Files {
  const expected = new Set(Object.keys(wanted).map(shownPath));
  const texts = new Set(earlier.flatMap((files) => Object.values(files)));
  const isCopy = (path: string, text: string): boolean =>
    /(?:^|\/)trash\//.test(path) && !expected.has(shownPath(path)) && texts.has(text);
  return Object.fromEntries(Object.entries(found).filter(([path, text]) => !isCopy(path, text)));
}

export function describeFiles(files: Files): string {
  const named = Object.entries(files).map(([path, text]) => [shownPath(path), text] as const);
  return JSON.stringify(Object.fromEntries(named.toSorted(([a], [b]) => (a < b ? -1 : 1))));
}

/** The leftovers of staging in the host's own folders, and of erased users. */
export function stagedFiles(dataDir: string): string[] {
  const homes = [userFolder(dataDir, userId), ...Array.from(letters, (each) => join(dataDir, "stores", storeOf(each)))];
  const own = [...homes, join(dataDir, "stores", ownStore)].map((home) => join(home, ".memcell"));
  const places = [...own, join(dataDir, "users"), join(dataDir, "stores")].filter((place) => existsSync(place));
  return places.flatMap((place) => readdirSync(place).filter((name) => /^(?:staged-|\.?eras)/.test(name)));
}
