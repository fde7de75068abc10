import { defineOperation } from "../define-operation.ts";
import { addEntry, editEntry, trashEntry, vouchFor } from "../edit.ts";
import { listEntries as entriesOf, showEntry as entryOf } from "../entries.ts";
import { listOf, optional, text } from "../field.ts";
import { originWords } from "../origin-words.ts";
import type { ChangedEntry, FileFacts, OwnEntries, ShownEntry } from "../own-entry.ts";
import { shownDay, shownTime } from "../told.ts";
import type { Told } from "../told.ts";

const name = text("NAME", "the name of an entry, or the path of a file");
const scope = optional(text("SCOPE", "the scope of the file, if files of several scopes have the name"));
const isSha256 = (typed: string): boolean => /^[0-9a-f]{16,64}$/.test(typed);
const sha256Expected = "a SHA-256, or at least its first 16 hexadecimal digits";
const ifSha256 = optional({
  ...text("SHA256", "does it only if the file has this content", sha256Expected, isSha256),
  flag: "if-sha256",
});

export const listEntries = defineOperation({
  name: "listEntries",
  action: "list the entries",
  changes: false,
  fields: {},
  run: (operation) => entriesOf(operation),
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

export const search = defineOperation({
  name: "search",
  action: "search the entries",
  changes: false,
  fields: { words: listOf(text("WORDS", "the words to look for")) },
  check: ({ words = [] }) =>
    words.join("").trim() === "" ? "words are missing; expected the words to look for" : null,
  run: (operation, { words = [] }) => entriesOf(operation, words.join(" ")),
  commands: [
    {
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
  ],
});

export const add = defineOperation({
  name: "add",
  action: "add an entry",
  changes: true,
  fields: {
    text: text("TEXT", "what to remember"),
    name: optional(text("NAME", "a name that no entry has (default: made of the text)")),
    family: optional(text("FAMILY", "the plugin that is to keep it, if several can")),
  },
  run: addEntry,
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
  fields: { name, scope },
  run: entryOf,
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

const textOf = ({ name: of, file, text: all }: ShownEntry): Told => [
  `${of}: ${factsIn(file)}`,
  "",
  { text: all ?? "(not text)" },
];

const factsIn = (file: FileFacts): string =>
  [originWords(file), file.at === null ? "" : shownTime(file.at), file.run === null ? "" : `run ${file.run}`]
    .filter((part) => part !== "")
    .join(", ");

/** The command of this name opens an editor: it is no command of one operation. */
export const edit = defineOperation({
  name: "edit",
  action: "edit",
  changes: true,
  fields: { name, text: text("TEXT", "the new text"), scope, ifSha256 },
  run: (operation, { text: written, ...named }) => editEntry(operation, named, written),
});

export const trash = defineOperation({
  name: "trash",
  action: "forget",
  changes: true,
  fields: { name, scope, ifSha256 },
  run: trashEntry,
  commands: [
    {
      name: "forget",
      summary: "moves an entry to the trash",
      description: 'Moves an entry to the trash, and the index is made to fit. "memcell trash restore" brings it back.',
      operands: ["name"],
      examples: ["memcell forget editor"],
      tells: ({ name: of }: ChangedEntry) => [
        `Moved ${of} to the trash; to bring it back: memcell trash restore ${of}`,
      ],
    },
  ],
});

export const vouch = defineOperation({
  name: "vouch",
  action: "confirm",
  changes: true,
  fields: { name, scope, ifSha256 },
  run: vouchFor,
  plan: { name: "planVouch", action: "confirm", changes: false, run: entryOf },
  commands: [
    {
      name: "confirm",
      summary: "says that you have read an entry and that it is right",
      description: `Says that you have read an entry and that it is right. Its text stays as it is; from then on it is trusted as yours, and no agent
is told that it comes from elsewhere. Without --yes, it is only shown, with the hash by which you say what you have read.`,
      operands: ["name"],
      examples: ["memcell confirm editor", "memcell confirm editor --if-sha256 6f2c01d28a4be097 --yes"],
      tells: (shown: ShownEntry | ChangedEntry) =>
        "file" in shown
          ? [...textOf(shown), "", `If it is right, add: --if-sha256 ${shown.file.sha256.slice(0, 16)}`]
          : [`Confirmed ${shown.name}`],
    },
  ],
});
