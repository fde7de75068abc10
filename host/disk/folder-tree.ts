/**
 * Counts or removes everything below a folder that is held open, whatever it is and is called: also links, devices, and
 * names that no tool could use. Follows no link, and removes nothing that is mounted there.
 */
import { randomUUID } from "node:crypto";
import { lstatSync, readdirSync, renameSync, rmdirSync, unlinkSync } from "node:fs";
import type { Dirent } from "node:fs";

import { reasonOf } from "../values/tool-error.ts";
import { giveTurn } from "../values/turns.ts";
import type { EndSignal } from "../values/turns.ts";
import type { LeftEntry, MeasuredTree } from "./directory.ts";
import { failureOfDisk, isMissing, systemCode } from "./disk-failure.ts";
import type { FolderHandle } from "./folder-handle.ts";

/** Each level of a tree is a folder that is held open. What is deeper is moved up, and then removed. */
const depthMax = 32;

/** How often a folder is emptied. A process that has waited for a lock can make it once more. */
const attemptsMax = 10;

/** How many entries are named that cannot be removed, or not be opened. */
const namedMax = 100;

/** A name is bytes: not every name is text. */
type Entry = Dirent<Buffer>;

export async function measureTree(folder: FolderHandle): Promise<MeasuredTree[]> {
  const measured: MeasuredTree[] = [];
  for (const entry of entriesOf(folder)) {
    const measuring = new Measuring();
    await measuring.add(folder, entry, entry.name.toString());
    const kind = entry.isFile() ? "file" : entry.isDirectory() ? "folder" : "other";
    measured.push({ name: entry.name.toString(), kind, ...measuring.sum });
  }
  return measured;
}

export async function removeTree(folder: FolderHandle, signal?: EndSignal): Promise<LeftEntry[]> {
  return await new Removal(folder, signal).run();
}

function entriesOf(folder: FolderHandle): Entry[] {
  try {
    return readdirSync(folder.itself(), { withFileTypes: true, encoding: "buffer" });
  } catch (error) {
    throw failureOfDisk(error, "list files");
  }
}

/** Something that was not measured or removed, unless it has gone meanwhile. */
function note(left: LeftEntry[], path: string, error: unknown): void {
  if (isMissing(error) || left.length >= namedMax) return;
  left.push({ path, reason: reasonOf(failureOfDisk(error, "use it")) });
}

class Measuring {
  readonly sum = { files: 0, bytes: 0, closed: [] as LeftEntry[] };

  async add(within: FolderHandle, entry: Entry, path: string): Promise<void> {
    await giveTurn();
    try {
      if (entry.isDirectory()) return await this.#addFolder(within, entry, path);
      this.sum.files++;
      if (entry.isFile()) this.sum.bytes += lstatSync(within.listed(entry.name)).size;
    } catch (error) {
      note(this.sum.closed, path, error);
    }
  }

  async #addFolder(within: FolderHandle, { name }: Entry, path: string): Promise<void> {
    using folder = within.openListed(name);
    for (const entry of entriesOf(folder)) await this.add(folder, entry, `${path}/${entry.name.toString()}`);
  }
}

class Removal {
  readonly #top: FolderHandle;
  readonly #left: LeftEntry[] = [];
  readonly #signal: EndSignal | undefined;
  /** How many folders were moved up. */
  #moved = 0;

  constructor(top: FolderHandle, signal: EndSignal | undefined) {
    this.#top = top;
    this.#signal = signal;
  }

  async run(): Promise<LeftEntry[]> {
    for (let before = -1; before < this.#moved;) {
      before = this.#moved;
      this.#left.length = 0;
      await this.#empty(this.#top, "", 1);
    }
    return this.#left;
  }

  async #empty(folder: FolderHandle, above: string, depth: number): Promise<void> {
    for (const entry of entriesOf(folder)) {
      await giveTurn();
      this.#signal?.throwIfAborted();
      const path = above + entry.name.toString();
      try {
        if (entry.isDirectory()) await this.#removeFolder(folder, entry, { path, depth });
        else unlinkSync(folder.listed(entry.name));
      } catch (error) {
        note(this.#left, path, error);
      }
    }
  }

  async #removeFolder(
    within: FolderHandle,
    { name }: Entry,
    { path, depth }: { readonly path: string; readonly depth: number },
  ): Promise<void> {
    // Fails if something is mounted there, before it is entered.
    if (removeIfEmpty(within, name)) return;
    if (depth >= depthMax) return this.#moveUp(within, name);
    const before = this.#left.length;
    for (let attempt = 1; attempt <= attemptsMax; attempt++) {
      {
        using folder = within.openListed(name);
        await this.#empty(folder, `${path}/`, depth + 1);
      }
      // What is left in it is named already.
      if (this.#left.length > before || removeIfEmpty(within, name)) return;
    }
    this.#left.push({ path, reason: "others keep putting files into it" });
  }

  #moveUp(within: FolderHandle, name: Buffer): void {
    renameSync(within.listed(name), this.#top.child(`moved-up-${randomUUID()}`));
    this.#moved++;
  }
}

function removeIfEmpty(within: FolderHandle, name: Buffer): boolean {
  try {
    rmdirSync(within.listed(name));
    return true;
  } catch (error) {
    if (["ENOTEMPTY", "EEXIST"].includes(systemCode(error) ?? "")) return false;
    throw error;
  }
}
