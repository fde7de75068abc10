/** Entries as their owner sees them: by the names that people type, each with where its present text comes from. */
import { isUtf8 } from "node:buffer";

import { ownScopesOf } from "../plugins/tools.ts";
import type { CatalogTool } from "../plugins/tools.ts";
import type { HeldHome } from "../store/held-homes.ts";
import { digestOf } from "../store/reading.ts";
import { ContentOrigins } from "../store/versions/present-origins.ts";
import type { Version } from "../store/versions/version.ts";
import type { Place } from "../values/change-set.ts";
import { asToolError, reasonOf } from "../values/tool-error.ts";
import { giveTurn } from "../values/turns.ts";
import { defineOperation } from "./define-operation.ts";
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
  run: allEntries,
  commands: [
    {
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
  ],
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
  commands: [
    {
      name: "show",
      summary: "shows an entry, and where it comes from",
      description: `Shows the text of an entry, when it was written and where it comes from. A name may be typed as people write it: "Preferred
language" is preferred-language.`,
      operands: ["name"],
      examples: ["memcell show editor"],
      tells: (shown: ShownEntry) => textOf(shown),
    },
  ],
});

export const textOf = ({ name: of, file, text: all }: ShownEntry): Told => [
  `${of}: ${factsIn(file)}`,
  "",
  { text: all ?? "(not text)" },
];

const factsIn = (file: FileFacts): string =>
  [originWords(file), file.at === null ? "" : shownTime(file.at), file.run === null ? "" : `run ${file.run}`]
    .filter((part) => part !== "")
    .join(", ");

/** All entries of all families, each family in its own order. */
async function allEntries(operation: Operation): Promise<OwnEntries> {
  const entries: ListedEntry[] = [];
  const left: { path: string; reason: string }[] = [];
  for (const found of operation.tools.withRole("entries")) {
    try {
      entries.push(...(await entriesOf(operation, found)));
    } catch (error) {
      const failure = asToolError(error, operation.action);
      if (endingCodes.has(failure.code)) throw failure;
      left.push({ path: found.family, reason: reasonOf(failure) });
    }
  }
  return { entries, left };
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
    for (const { name, description } of entries) {
      await giveTurn();
      const file = await known.factsOf({ scope, path: entryFile.split("{name}").join(name) });
      listed.push({ family, name, description, file: file?.facts ?? null });
    }
    return listed;
  });
}

/** One entry, or another file, with its text. Throws `ENTRY_NOT_FOUND`, and `INPUT_INVALID` if several have the name. */
export async function entry(operation: Operation, named: NamedFile): Promise<ShownEntry> {
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
