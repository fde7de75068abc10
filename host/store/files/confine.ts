/**
 * From user, scope and path to a place on disk. The security heart of the store: nothing else joins paths.
 *
 * Every name that is joined here has passed a grammar without separators and dot segments, and every folder on the way
 * is looked at and must be a real folder: a link in its place is `STORAGE_UNSAFE`, wherever it points to.
 */
import { existsSync, lstatSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";

import { isScopePath, scopeName } from "../../../shared/path.ts";
import { quoted } from "../../../shared/text.ts";
import { ToolError } from "../../tool-error.ts";
import type { UserId } from "../../user-id.ts";
import { failureOfDisk, isMissing } from "./disk-failure.ts";
import { userFolderName } from "./user-folder-name.ts";

/** The host's own folder beside the scopes. Its name fits no scope, so no guest can reach it. */
const hostFolder = ".memcell";

export class UserFolder {
  readonly #dataDir: string;
  readonly #steps: readonly string[];

  constructor(dataDir: string, userId: UserId) {
    this.#dataDir = dataDir;
    this.#steps = ["users", userFolderName(userId)];
  }

  /** The place of a file of a scope, or `null` when a folder on the way does not exist. */
  find(scope: string, path: string): string | null {
    const segments = segmentsOf(scope, path);
    return this.#walk([...this.#steps, ...segments.slice(0, -1)], segments.at(-1));
  }

  /** The place of a file of a scope, after making the folders that lead to it. */
  make(scope: string, path: string): string {
    const segments = segmentsOf(scope, path);
    return this.#build([...this.#steps, ...segments.slice(0, -1)], segments.at(-1));
  }

  /** A folder of a scope, or `null` when it does not exist. */
  findFolder(scope: string): string | null {
    return this.#walk([...this.#steps, checkedScope(scope)]);
  }

  /** The place of a file of the host's own. */
  findOwn(name: "owner"): string | null {
    return this.#walk([...this.#steps, hostFolder], name);
  }

  makeOwn(name: "owner" | `staged-${string}`): string {
    return this.#build([...this.#steps, hostFolder], name);
  }

  #walk(folders: readonly string[], leaf?: string): string | null {
    let place = this.#dataDir;
    for (const folder of folders) {
      place = join(place, folder);
      if (!isRealFolder(place)) return null;
    }
    return leaf === undefined ? place : join(place, leaf);
  }

  #build(folders: readonly string[], leaf?: string): string {
    let place = this.#dataDir;
    makeDataDir(place);
    for (const folder of folders) {
      place = join(place, folder);
      if (!isRealFolder(place)) makeFolder(place);
    }
    return leaf === undefined ? place : join(place, leaf);
  }
}

function segmentsOf(scope: string, path: string): string[] {
  if (!isScopePath(path)) {
    throw new ToolError("CAPABILITY_DENIED", `Cannot use path ${quoted(path)}: it is not a path inside a scope`);
  }
  return [checkedScope(scope), ...path.split("/")];
}

function checkedScope(scope: string): string {
  if (!scopeName.test(scope))
    throw new ToolError("CAPABILITY_DENIED", `Cannot use scope ${quoted(scope)}: no such scope`);
  return scope;
}

/** `false` when nothing is there; an error when something else than a folder is. */
function isRealFolder(place: string): boolean {
  try {
    if (lstatSync(place).isDirectory()) return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw failureOfDisk(error, "open the user's folder");
  }
  throw new ToolError("STORAGE_UNSAFE", "Cannot open the user's folder: something else lies in a folder's place");
}

/** Step by step: below some mount points Node's own recursion never ends. */
function makeDataDir(place: string): void {
  if (existsSync(place)) return;
  makeDataDir(dirname(place));
  makeFolder(place);
}

function makeFolder(place: string): void {
  try {
    mkdirSync(place, { mode: 0o700 });
  } catch (error) {
    throw failureOfDisk(error, "make the user's folder");
  }
}
