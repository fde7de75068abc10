/** What plugins keep of a user that a host can show: their entries, and which of it each has. */
import type { ReadOutput } from "../../shared/roles.ts";
import type { LoadedTools } from "../plugins/loaded-tools.ts";

/** Which entry: no two of a plugin have one name. */
export interface EntryName {
  /** The name of its plugin. */
  readonly family: string;
  readonly name: string;
}

export interface MemoryEntry extends EntryName {
  /** What it is about, in one line. */
  readonly description: string;
}

/** `body` is the text; what else its plugin tells of the entry stands beside it. */
export type EntryText = ReadOutput & Readonly<Record<string, unknown>>;

/** What one plugin keeps of a user that a program can show without knowing the plugin. */
export interface MemoryFamily {
  /** The plugin's name. */
  readonly name: string;
  /** The scopes that index and entries are made from. */
  readonly scopes: readonly string[];
  /** Whether `memoryIndex` asks it. */
  readonly hasIndex: boolean;
  /** Whether `memoryEntries` asks it. */
  readonly hasEntries: boolean;
  /** Whether `readEntry` can read its entries. */
  readonly canRead: boolean;
  /** The tool by which a model reads an entry; not there where none is offered to models. */
  readonly readTool?: string;
  /** Where each entry is a file of its own: its path in the scope, with `{name}` for the entry's name. */
  readonly entryFile?: string;
}

/** What the loaded plugins keep that a host can show, by the roles of their tools. */
export function familiesOf(tools: LoadedTools): MemoryFamily[] {
  const names = new Set(tools.all.map(({ family }) => family));
  return Array.from(names, (name) => {
    const own = tools.all.filter(({ family }) => family === name);
    const [index, entries, read] = (["index", "entries", "read"] as const).map(
      (role) => own.find(({ tool }) => tool.role === role)?.tool,
    );
    const shown = [index, entries, read].flatMap((tool) => tool ?? []);
    return {
      name,
      scopes: [...new Set(shown.flatMap(({ scopes }) => scopes))],
      hasIndex: index !== undefined,
      hasEntries: entries !== undefined,
      canRead: read !== undefined,
      ...(read?.audience === "model" && { readTool: read.name }),
      ...(entries?.entryFile !== undefined && { entryFile: entries.entryFile }),
    };
  }).filter(({ hasIndex, hasEntries, canRead }) => hasIndex || hasEntries || canRead);
}
