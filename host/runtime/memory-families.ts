/** What plugins keep of a user that a host can show: their entries, and which of it each has. */
import type { ReadOutput } from "../../shared/roles.ts";
import type { LoadedTools } from "../plugins/loaded-tools.ts";

/** Which entry: no two of a plugin have one name. */
export interface FamilyChoice {
  /** The name of a plugin. */
  readonly family?: string | undefined;
}

export interface EntryName extends FamilyChoice {
  /** The name of its plugin. It may be left out where one plugin alone can read its entries. */
  readonly family?: string | undefined;
  readonly name: string;
}

export interface MemoryEntry extends EntryName {
  readonly family: string;
  /** What it is about, in one line. */
  readonly description: string;
}

/** `body` is the text; what else its plugin tells of the entry stands beside it. */
export type EntryText = ReadOutput & Readonly<Record<string, unknown>>;

/** What one plugin keeps of a user that a program can show without knowing the plugin. */
export interface MemoryFamily {
  /** The plugin's name. */
  readonly name: string;
  /** Whether `memoryIndex` asks it. */
  readonly hasIndex: boolean;
  /** Whether `memoryEntries` asks it. */
  readonly hasEntries: boolean;
  /** Whether `readEntry` can read its entries. */
  readonly canRead: boolean;
  /** The scopes that the index is made from. */
  readonly indexScopes: readonly string[];
  /** The scopes that entries are listed and read from: one, unless the plugin reads them elsewhere than it lists them. */
  readonly entryScopes: readonly string[];
  /** The tool by which a model reads an entry; not there where none is offered to models. */
  readonly readTool?: string;
  /** Where each entry is a file of its own in the one scope of entries: its path there, with `{name}` for the entry's name. */
  readonly entryFile?: string;
}

/** What the loaded plugins keep that a host can show, by the roles of their tools. Nobody can change what is returned. */
export function familiesOf(tools: LoadedTools): readonly MemoryFamily[] {
  const names = new Set(tools.all.map(({ family }) => family));
  const families = Array.from(names, (name): MemoryFamily => {
    const own = tools.all.filter(({ family }) => family === name);
    const [index, entries, read] = (["index", "entries", "read"] as const).map(
      (role) => own.find(({ tool }) => tool.role === role)?.tool,
    );
    const entryScopes = new Set([...(entries?.scopes ?? []), ...(read?.scopes ?? [])]);
    return Object.freeze({
      name,
      hasIndex: index !== undefined,
      hasEntries: entries !== undefined,
      canRead: read !== undefined,
      indexScopes: Object.freeze([...(index?.scopes ?? [])]),
      entryScopes: Object.freeze([...entryScopes]),
      ...(read?.audience === "model" && { readTool: read.name }),
      ...(entries?.entryFile !== undefined && entryScopes.size === 1 && { entryFile: entries.entryFile }),
    });
  });
  return Object.freeze(families.filter(({ hasIndex, hasEntries, canRead }) => hasIndex || hasEntries || canRead));
}
