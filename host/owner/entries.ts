/** Entries as their owner sees them: by the names that people type, each with where its present text comes from. */
import { isUtf8 } from "node:buffer";

import { shownPath } from "../../shared/encoded-name.ts";
import { ownScopesOf } from "../plugins/tools.ts";
import type { CatalogTool } from "../plugins/tools.ts";
import type { HeldHome } from "../store/held-homes.ts";
import { digestOf } from "../store/reading.ts";
import { ContentOrigins } from "../store/versions/present-origins.ts";
import type { Place } from "../values/change-set.ts";
import { asToolError, reasonOf, ToolError } from "../values/tool-error.ts";
import { defineOperation } from "./define-operation.ts";
import { listOf, text } from "./field.ts";
import { fileFields, findLive, noEntry } from "./find-file.ts";
import type { NamedFile } from "./find-file.ts";
import { endingCodes } from "./operate.ts";
import type { Operation } from "./operation.ts";
import { originWords } from "./origin-words.ts";
import type { FileFacts, ListedEntry, OwnEntries, ShownEntry } from "./own-entry.ts";
import { shownDay, shownTime } from "./told.ts";
import type { Told } from "./told.ts";

export const listEntries = defineOperation({
  name: "listEntries",
  action: "list the entries",
  changes: false,
  fields: {},
  run: (operation) => allEntries(operation),
  command: {
    name: "list",
    summary: "lists what is remembered, and where each entry comes from",
    description: "Lists everything that is remembered, with when it was written and where it comes from.",
    examples: ["memcell list"],
    tells: ({ entries, left }: OwnEntries): Told => [
      ...(entries.length === 0 ? ["Nothing is remembered yet"] : [tableOf(entries)]),
      ...left.map(({ path, reason }) => `${path} could not list its entries: ${reason}`),
    ],
    isEmpty: ({ entries }) => entries.length === 0,
  },
});

export const search = defineOperation({
  name: "search",
  action: "search the entries",
  changes: false,
  fields: { words: listOf(text("WORDS", "the words to look for")) },
  check: ({ words = [] }) =>
    words.join("").trim() === "" ? "words are missing; expected the words to look for" : null,
  run: (operation, { words = [] }) => allEntries(operation, words.join(" ")),
  command: {
    name: "search",
    summary: "finds entries by their words",
    description: `Finds the entries that have all or some of the words in their name, summary or text, the best first, each with a line of its
text.`,
    operands: ["words"],
    examples: ["memcell search hotel in vienna"],
    tells: ({ entries, left }: OwnEntries): Told => [
      ...(entries.length === 0 ? ["Nothing was found; memcell list shows everything"] : []),
      ...entries.flatMap(({ name: of, description, file, snippet = "" }): Told => [
        `${of}: ${description}`,
        ...(snippet === "" || snippet === description ? [] : [`  ${snippet}`]),
        ...(file === null ? [] : [`  ${factsIn(file)}`]),
      ]),
      ...left.map(({ path, reason }) => `${path} was not searched: ${reason}`),
    ],
  },
});

const tableOf = (entries: OwnEntries["entries"]): Told[number] => {
  const isOne = new Set(entries.map(({ family }) => family)).size === 1;
  return {
    heads: ["name", ...(isOne ? [] : ["kept by"]), "written", "where it comes from", "what it is about"],
    isCut: true,
    rows: entries.map(({ family, name: of, description, file }) => [
      of,
      ...(isOne ? [] : [family]),
      file?.at ? shownDay(file.at) : "",
      file === null ? "" : originWords(file),
      description,
    ]),
  };
};

export const showEntry = defineOperation({
  name: "showEntry",
  action: "show",
  changes: false,
  fields: fileFields,
  run: entry,
  command: {
    name: "show",
    summary: "shows an entry, and where it comes from",
    description: `Shows the text of an entry, when it was written and where it comes from. A name may be typed as people write it: "Preferred
language" is preferred-language.`,
    operands: ["name"],
    examples: ["memcell show editor"],
    tells: (shown: ShownEntry) => textOf(shown),
  },
});

export const textOf = ({ name: of, file, text: all }: ShownEntry): Told => [
  `${shownPath(of)}: ${factsIn(file)}`,
  "",
  { text: all ?? "(not text)" },
];

const factsIn = (file: FileFacts): string =>
  [originWords(file), file.at === null ? "" : shownTime(file.at), file.run === null ? "" : `run ${file.run}`]
    .filter((part) => part !== "")
    .join(", ");

/**
 * All entries of all families, each family in its own order. `words`: only those that have them, the best first; the families
 * take turns.
 */
async function allEntries(operation: Operation, words: string | null = null): Promise<OwnEntries> {
  const families: ListedEntry[][] = [];
  const left: { path: string; reason: string }[] = [];
  for (const found of operation.tools.withRole("entries")) {
    try {
      families.push(await (words === null ? entriesOf(operation, found) : withWords(operation, words, found)));
    } catch (error) {
      const failure = asToolError(error, operation.action);
      if (endingCodes.has(failure.code)) throw failure;
      left.push({ path: found.family, reason: reasonOf(failure) });
    }
  }
  return { entries: words === null ? families.flat() : inTurn(families), left };
}

/** Throws `TOOL_UNKNOWN` if the family cannot look for words, and has entries. */
async function withWords(operation: Operation, words: string, found: CatalogTool): Promise<ListedEntry[]> {
  const { family } = found;
  const tool = operation.tools.withRole("search").find((each) => each.family === family);
  return await operation.last(["search", family, words], [found, tool ?? found], async (inside) => {
    const entries = await entriesOf(inside, found);
    if (entries.length === 0) return [];
    if (tool === undefined)
      throw new ToolError("TOOL_UNKNOWN", `Cannot ${operation.action}: its plugin cannot look for words`);
    const byName = new Map(entries.map((each) => [each.name, each]));
    const { entries: all } = await inside.ask("search", tool, { query: words });
    return all.flatMap(({ name, snippet }) => {
      const listed = byName.get(name);
      return listed === undefined ? [] : [{ ...listed, snippet }];
    });
  });
}

/** The first of each list, then the second of each. */
function inTurn<Item>(lists: readonly (readonly Item[])[]): Item[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, at) => lists.flatMap((list) => list.slice(at, at + 1))).flat();
}

const entriesOf = (operation: Operation, found: CatalogTool): Promise<ListedEntry[]> =>
  operation.last(["entries", found.family], [found], (inside) => askedEntries(inside, found));

async function askedEntries(operation: Operation, found: CatalogTool): Promise<ListedEntry[]> {
  const { entries } = await operation.ask("entries", found, {});
  const { family, tool } = found;
  const [scope] = ownScopesOf(found);
  const paths = entries.map(({ name, path }) => path ?? tool.entryFile?.split("{name}").join(name) ?? null);
  const told = paths.filter((path) => path !== null);
  const files = scope === undefined ? new Map<string, FileFacts>() : await factsOf(operation, scope, new Set(told));
  const counts = new Map<string | null, number>();
  for (const path of paths) counts.set(path, (counts.get(path) ?? 0) + 1);
  return entries.map(({ name, description }, at): ListedEntry => {
    const path = paths[at] ?? null;
    const file = (path === null ? null : files.get(path)) ?? null;
    const isShared = (counts.get(path) ?? 0) > 1;
    return { family, name, description, file: isShared ? null : file, sharedFile: isShared ? file : null };
  });
}

/** What is known of files of a scope, by path; nothing of those that are not there. */
function factsOf(operation: Operation, scope: string, paths: ReadonlySet<string>): Promise<Map<string, FileFacts>> {
  return operation.hold("read", [scope], async (held) => {
    const known = await knownFiles(held);
    const files = new Map<string, FileFacts>();
    for (const path of paths) {
      const file = await known({ scope, path });
      if (file !== null) files.set(path, file.facts);
    }
    return files;
  });
}

/** One entry, or another file, with its text. Throws `ENTRY_NOT_FOUND`, and `INPUT_INVALID` if several have the name. */
export async function entry(operation: Operation, named: NamedFile): Promise<ShownEntry> {
  const place = await findLive(operation, named);
  const file = await operation.hold("read", [place.scope], async (held) => (await knownFiles(held))(place));
  if (file === null) throw await noEntry(operation, named.name, []);
  return {
    name: operation.tools.entryAt(place) ?? place.path,
    file: file.facts,
    isDerived: operation.tools.isDerivedAt(place),
    text: isUtf8(file.bytes) ? Buffer.from(file.bytes).toString("utf8") : null,
  };
}

/** What the history says of present files; `null` of one that is not there. */
async function knownFiles(
  held: HeldHome,
): Promise<(place: Place) => Promise<{ readonly facts: FileFacts; readonly bytes: Uint8Array } | null>> {
  const versions = new Map((await held.history.versions()).map((version) => [version.seq, version]));
  const origins = new ContentOrigins(held.history);
  return async ({ scope, path }) => {
    const bytes = await held.bytesOf(scope, path);
    if (bytes === null) return null;
    const sha256 = digestOf(bytes) ?? "";
    const place = { scope, path, sha256 };
    const known = await held.history.originOf(scope, path);
    if (known?.sha256 !== sha256) {
      const { class: of, trust } = await origins.of(scope, path, sha256);
      return { bytes, facts: { ...place, class: of, trust, kind: "edited", at: null, run: null, source: null } };
    }
    const { kind, atMs, trust, seq } = known;
    const { run = null, source = null } = versions.get(seq) ?? {};
    return { bytes, facts: { ...place, class: known.class, trust, kind, at: new Date(atMs), run, source } };
  };
}
