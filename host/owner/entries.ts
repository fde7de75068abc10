/** Entries as their owner sees them: by the names that people type, each with where its present text comes from. */
import { isUtf8 } from "node:buffer";

import { nearestName } from "../../shared/nearest-name.ts";
import { isTrashPath } from "../../shared/path.ts";
import { quoted } from "../../shared/text.ts";
import { ownScopesOf, unknownRole } from "../plugins/tools.ts";
import type { CatalogTool, LoadedTools } from "../plugins/tools.ts";
import type { HeldHome } from "../store/held-homes.ts";
import { digestOf } from "../store/reading.ts";
import { ContentOrigins } from "../store/versions/present-origins.ts";
import type { Version } from "../store/versions/version.ts";
import type { Place } from "../values/change-set.ts";
import { ToolError, asToolError, reasonOf } from "../values/tool-error.ts";
import { giveTurn } from "../values/turns.ts";
import { typedPath } from "./find-file.ts";
import type { NamedFile } from "./find-file.ts";
import { endingCodes } from "./operate.ts";
import type { Operation } from "./operation.ts";
import type { FileFacts, ListedEntry, OwnEntries, ShownEntry } from "./own-entry.ts";
import { eachPart } from "./user-scopes.ts";

/**
 * All entries of all families, each family in its own order. `words`: only those that have them, the best first; the families
 * take turns.
 */
export async function listEntries(operation: Operation, words: string | null = null): Promise<OwnEntries> {
  const families: ListedEntry[][] = [];
  const left: { path: string; reason: string }[] = [];
  for (const found of operation.tools.withRole("entries")) {
    try {
      const entries = await entriesOf(operation, found);
      families.push(words === null ? entries : await withWords(operation, words, entries));
    } catch (error) {
      const failure = asToolError(error, operation.action);
      if (endingCodes.has(failure.code)) throw failure;
      left.push({ path: found.family, reason: reasonOf(failure) });
    }
  }
  return { entries: words === null ? families.flat() : inTurn(families), left };
}

/** Throws `TOOL_UNKNOWN` if the family cannot look for words, and has entries. */
async function withWords(operation: Operation, words: string, entries: readonly ListedEntry[]): Promise<ListedEntry[]> {
  const [first] = entries;
  if (first === undefined) return [];
  const search = operation.tools.withRole("search").find(({ family }) => family === first.family);
  if (search === undefined) throw unknownRole(operation.action, "search", { family: first.family, hint: undefined });
  const byName = new Map(entries.map((entry) => [entry.name, entry]));
  const found = await operation.ask("search", search, { query: words });
  return found.entries.flatMap(({ name, snippet }) => {
    const entry = byName.get(name);
    return entry === undefined ? [] : [{ ...entry, snippet }];
  });
}

/** The first of each list, then the second of each. */
function inTurn<Item>(lists: readonly (readonly Item[])[]): Item[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, at) => lists.flatMap((list) => list.slice(at, at + 1))).flat();
}

async function entriesOf(operation: Operation, found: CatalogTool): Promise<ListedEntry[]> {
  const { entries } = await operation.ask("entries", found, {});
  const { family, tool } = found;
  const [scope] = ownScopesOf(found);
  const { entryFile } = tool;
  if (scope === undefined || entryFile === undefined) {
    return entries.map(({ name, description }) => ({ family, name, description, file: null }));
  }
  return await operation.hold({ scopes: [scope], mode: "read" }, async (held) => {
    const known = await KnownFiles.in(held);
    const listed: ListedEntry[] = [];
    for (const { name, description, path = entryFile.split("{name}").join(name) } of entries) {
      await giveTurn();
      const file = await known.factsOf({ scope, path });
      listed.push({ family, name, description, file: file?.facts ?? null });
    }
    return listed;
  });
}

/** One entry, or another file, with its text. Throws `ENTRY_NOT_FOUND`, and `INPUT_INVALID` if several have the name. */
export async function showEntry(operation: Operation, named: NamedFile): Promise<ShownEntry> {
  const place = await findLive(operation, named);
  const file = await operation.hold({ scopes: [place.scope], mode: "read" }, async (held) =>
    (await KnownFiles.in(held)).factsOf(place),
  );
  if (file === null) throw noEntry(operation, named.name, []);
  return {
    name: operation.tools.entryAt(place) ?? place.path,
    file: file.facts,
    isDerived: operation.tools.isDerivedAt(place),
    text: isUtf8(file.bytes) ? Buffer.from(file.bytes).toString("utf8") : null,
  };
}

/** The present file of an entry, by its name as a person types it, or by its path, with or without its scope. */
export async function findLive(operation: Operation, { name, scope }: NamedFile): Promise<Place> {
  const { tools } = operation;
  const only = scope === undefined ? undefined : [scope];
  const parts = await eachPart(operation, { mode: "read", only }, async ({ held, scopes }) => {
    const files: Place[] = [];
    for (const each of scopes.filter((of) => scope === undefined || of === scope)) {
      for (const { path } of await held.list(each, "")) if (!isTrashPath(path)) files.push({ scope: each, path });
    }
    return files;
  });
  const all = parts.flat().map((file) => Object.assign({ entry: entryAt(tools, file) }, file));
  const found = namedIn(all, name) ?? namedIn(await notesIn(operation, all), name);
  const [first, ...others] = found ?? [];
  if (first === undefined)
    throw noEntry(
      operation,
      name,
      all.flatMap(({ entry }) => entry ?? []),
    );
  if (others.length === 0) return { scope: first.scope, path: first.path };
  const places = [first, ...others].map((file) => `${file.scope}/${file.path}`).join(", ");
  throw new ToolError(
    "INPUT_INVALID",
    `Cannot ${operation.action} ${quoted(name)}: it can be any of ${places}; name the scope as well`,
  );
}

type FileOfEntry = Place & { readonly entry: string | null };

function namedIn(files: readonly FileOfEntry[], name: string): readonly FileOfEntry[] | undefined {
  const [folded, typed] = [foldedName(name), typedPath(name)];
  return [
    files.filter(({ path, entry }) => path === typed || entry === name),
    files.filter((file) => `${file.scope}/${file.path}` === typed),
    files.filter(({ entry }) => entry !== null && foldedName(entry) === folded),
  ].find(({ length }) => length > 0);
}

/** Those whose entry's name their path does not tell: only their plugin knows it. */
async function notesIn(operation: Operation, files: readonly FileOfEntry[]): Promise<readonly FileOfEntry[]> {
  const notes: FileOfEntry[] = [];
  for (const tool of operation.tools.withRole("entries")) {
    const [scope = ""] = ownScopesOf(tool);
    if (!files.some((file) => file.scope === scope && file.entry === null)) continue;
    const { entries } = await operation.ask("entries", tool, {});
    for (const { name, path } of entries) if (path !== undefined) notes.push({ scope, path, entry: name });
  }
  return notes;
}

/** What a plugin makes from other files is no entry. */
const entryAt = (tools: LoadedTools, file: Place): string | null =>
  tools.isDerivedAt(file) ? null : tools.entryAt(file);

/** People write "Preferred language" where a name has dashes. */
const foldedName = (name: string): string =>
  name
    .normalize("NFC")
    .toLowerCase()
    .replaceAll(/[\s_-]+/g, "-");

function noEntry({ action }: Operation, name: string, known: readonly string[]): ToolError {
  const hint = known.length === 0 ? "" : `; did you mean ${quoted(nearestName(name, known))}?`;
  return new ToolError("ENTRY_NOT_FOUND", `Cannot ${action} ${quoted(name)}: there is no such entry${hint}`);
}

/** What the history says of present files. */
class KnownFiles {
  readonly #held: HeldHome;
  readonly #origins: ContentOrigins;
  readonly #versions: ReadonlyMap<number, Version>;

  private constructor(held: HeldHome, versions: readonly Version[]) {
    this.#held = held;
    this.#origins = new ContentOrigins(held.history);
    this.#versions = new Map(versions.map((version) => [version.seq, version]));
  }

  static async in(held: HeldHome): Promise<KnownFiles> {
    return new KnownFiles(held, await held.history.versions());
  }

  /** `null` if there is no file. */
  async factsOf({ scope, path }: Place): Promise<{ readonly facts: FileFacts; readonly bytes: Uint8Array } | null> {
    const bytes = await this.#held.bytesOf(scope, path);
    if (bytes === null) return null;
    const sha256 = digestOf(bytes) ?? "";
    const place = { scope, path, sha256 };
    const known = await this.#held.history.originOf(scope, path);
    if (known?.sha256 !== sha256) {
      const { class: of, trust } = await this.#origins.of(scope, path, sha256);
      return { bytes, facts: { ...place, class: of, trust, kind: "edited", at: null, run: null, source: null } };
    }
    const { kind, atMs, trust, seq } = known;
    const { run = null, source = null } = this.#versions.get(seq) ?? {};
    return { bytes, facts: { ...place, class: known.class, trust, kind, at: new Date(atMs), run, source } };
  }
}
