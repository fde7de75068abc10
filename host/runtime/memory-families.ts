/** What a host can show of a user's memory: the entries, and which plugins have an index or entries. */
import type { EntryOrigin } from "../../shared/entry-origin.ts";
import type { ReadOutput } from "../../shared/roles.ts";
import type { LoadedTools } from "../plugins/tools.ts";

export interface FamilyChoice {
  /** The name of a plugin. */
  readonly family?: string | undefined;
}

export interface EntriesChoice extends FamilyChoice {
  /** Leaves out what the policy keeps out of prompts, as in the index. A list that gets to a model needs it. */
  readonly forPrompt?: boolean | undefined;
}

/** Identifies an entry: no two entries of a plugin have the same name. */
export interface EntryName extends FamilyChoice {
  /** The name of its plugin. Optional if only one plugin can read its entries. */
  readonly family?: string | undefined;
  readonly name: string;
}

export interface MemoryEntry extends EntryName {
  readonly family: string;
  /** What it is about, in one line. */
  readonly description: string;
  /**
   * Where it comes from, unless the user has written or approved it. If the plugin does not say which file has which entry,
   * all that the entry can come from.
   */
  readonly origins?: readonly EntryOrigin[];
}

/**
 * `body` is the text. The plugin can add other fields. `origins`: where it comes from, unless the user has written or
 * approved it; a text for a model needs it, too: see `originLines`.
 */
export type EntryText = ReadOutput & { readonly origins?: readonly EntryOrigin[] } & Readonly<Record<string, unknown>>;

/** What a program can show of one plugin's memory without knowing the plugin. */
export interface MemoryFamily {
  /** The plugin's name. */
  readonly name: string;
  /** Whether `memoryIndex` includes it. */
  readonly hasIndex: boolean;
  /** Whether `memoryEntries` includes it. */
  readonly hasEntries: boolean;
  /** Whether `readEntry` can read its entries. */
  readonly canRead: boolean;
  /** The scopes that the index is made from. */
  readonly indexScopes: readonly string[];
  /**
   * The scopes that entries are listed and read from: one, unless the plugin uses different scopes for the two. `store:*`
   * stands for the user's own store.
   */
  readonly entryScopes: readonly string[];
  /** The tool with which a model reads an entry. Missing if no such tool is offered to models. */
  readonly readTool?: string;
  /**
   * The path of an entry's file inside the one scope of `entryScopes`, with `{name}` for its name. Set only if each
   * entry has its own file there.
   */
  readonly entryFile?: string;
}

/** The families of the loaded plugins, by the roles of their tools. The result is frozen. */
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
