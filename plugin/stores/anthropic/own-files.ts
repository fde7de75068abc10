/** The caller's own store as files and folders. A file is an entry; a folder is there if an entry is below it. */
import { ToolError } from "../../kit/tool-error.ts";
import { ownStore } from "../entry-store.ts";
import type { EntryStore, FoundEntry } from "../entry-store.ts";
import { memoryRoot } from "./file-path.ts";
import type { FilePath } from "./file-path.ts";

/** What a path names. */
export type Named =
  /** The entries of one key: the caller's own first, then those that others have created in this store. */
  { readonly entries: readonly FoundEntry[]; readonly folder?: undefined } | { readonly folder: Folder };

export interface Folder {
  /** What the keys of all its entries begin with: empty, or ending in a slash. */
  readonly prefix: string;
}

export class OwnFiles {
  readonly at: EntryStore;
  /** The id of the store, which is also that of the caller. */
  readonly self: string;

  constructor() {
    this.at = ownStore().check("readwrite");
    this.self = this.at.id;
  }

  /** What a path names, or `null`. Where a file and a folder have the same path, a slash at the end is the folder. */
  find({ key, endsInSlash }: FilePath): Named | null {
    if (key === "") return { folder: { prefix: "" } };
    const inOrder = endsInSlash ? [this.#folderAt, this.#entriesAt] : [this.#entriesAt, this.#folderAt];
    for (const look of inOrder) {
      const named = look(key);
      if (named !== null) return named;
    }
    return null;
  }

  /** Throws if a file is where the path needs a folder. */
  refuseBelowFile({ shown, key }: FilePath): void {
    const parts = key.split("/").slice(0, -1);
    const file = parts
      .map((_, at) => parts.slice(0, at + 1).join("/"))
      .find((each) => this.at.visible(each).length > 0);
    if (file === undefined) return;
    throw new ToolError("NAME_CONFLICT", `Cannot use ${shown}: ${memoryRoot}/${file} is a file, not a directory`);
  }

  /** The caller's own entry among those of one key. Throws `NOT_CREATOR` if others have created all of them. */
  ownOf(entries: readonly FoundEntry[], { shown }: FilePath): FoundEntry {
    const own = entries.find(({ owner }) => owner === this.self);
    if (own !== undefined) return own;
    throw new ToolError("NOT_CREATOR", `Cannot change ${shown}: another agent has created it, only its creator can`);
  }

  /** The entries of a folder, one at a time. Throws `NOT_CREATOR` at the first one that others have created. */
  *ownIn({ prefix }: Folder, { shown }: FilePath): Generator<FoundEntry> {
    for (const entry of this.at.eachVisibleBelow(prefix)) {
      if (entry.owner !== this.self) {
        const file = `${memoryRoot}/${entry.key}`;
        throw new ToolError(
          "NOT_CREATOR",
          `Cannot change ${shown}: another agent has created ${file}, only its creator can`,
        );
      }
      yield entry;
    }
  }

  readonly #entriesAt = (key: string): Named | null => {
    const entries = this.at.visible(key);
    return entries.length === 0 ? null : { entries };
  };

  readonly #folderAt = (key: string): Named | null => {
    const prefix = `${key}/`;
    const [first] = this.at.eachVisibleBelow(prefix);
    return first === undefined ? null : { folder: { prefix } };
  };
}
