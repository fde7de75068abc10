/** Scripts, each for one thing that can go wrong. */
import { erasedSubject } from "../homes/erased.ts";
import { gateSubject } from "../homes/gate.ts";
import {
  close,
  edit,
  erase,
  failFlush,
  gate,
  grant,
  look,
  move,
  process,
  put,
  recreate,
  remove,
  restore,
  upsert,
} from "../homes/step.ts";
import type { Step } from "../homes/step.ts";
import { storeSubject } from "../homes/stores.ts";
import type { Subject } from "../homes/subject.ts";
import { alice, userSubject } from "../homes/user.ts";

export interface Script {
  readonly name: string;
  readonly steps: readonly Step[];
  readonly subject: Subject;
  /** For long scripts: the share of the usual number of states at each point. */
  readonly density?: number;
}

/** As `cp -a` of a backup does it. */
const copyBack = (path: string, text: string): Step => ({ do: "edit", path, text, isOld: true });
const factOf = (name: string, body: string): string => `---\nname: ${name}\n---\n${body}\n`;
const long = (bytes: number, letter: string): string => `${letter.repeat(bytes)}.`;

/** With enough small calls the WAL is retired by number, with enough large ones by size. */
const many = (count: number, bytes: number): Step[] =>
  Array.from({ length: count }, (_, at) =>
    at % 7 === 6 ? remove(`fact-${at % 5}`) : upsert(`fact-${at % 5}`, long(bytes, `${at} `)),
  );

type Table = Readonly<Record<string, readonly Step[]>>;

const ofUser: Table = {
  "first call": [upsert("one", "First.")],
  replace: [upsert("one", long(900, "a")), upsert("one", long(1400, "b")), upsert("one", "Short.")],
  delete: [upsert("one", "First."), upsert("two", "Second."), remove("one"), remove("two")],
  recreate: [upsert("one", "First."), edit("one.md", "Not a fact.\n"), recreate("one", "Anew."), remove("one")],
  restore: [upsert("one", "First."), upsert("two", "Second."), remove("one"), restore("one"), remove("one"), close],
  undo: [
    upsert("one", "Mine."),
    upsert("two", "Mine, too."),
    recreate("one", "Poison."),
    upsert("evil", "Poison."),
    { do: "undo", name: "one", made: "evil" },
    remove("two"),
    upsert("evil", "More poison."),
    { do: "undo", name: "two", made: "evil" },
    close,
    look,
  ],
  retire: [upsert("one", "First."), upsert("two", "Second."), close, look, remove("one"), close, look],
  "edits between calls": [
    upsert("one", "First."),
    edit("MEMORY.md", "# Mine\n- [one](one.md) — my words\n"),
    edit("one.md", "---\nname: one\n---\nEdited by hand.\n"),
    upsert("two", "Second."),
    edit("two.md", "Mine now.\n"),
    edit("notes.md", "Made by hand.\n"),
    upsert("one", "Replaced."),
    edit("MEMORY.md", null),
  ],
  // The machine starts again before anybody uses the user's files.
  "changes by hand, then a restart": [
    upsert("one", "First."),
    upsert("one", "Second."),
    upsert("two", "A secret."),
    upsert("three", "Third."),
    upsert("four", "Fourth."),
    upsert("four", "Renamed."),
    copyBack("one.md", factOf("one", "First.")),
    edit("two.md", null),
    edit("three.md", "Mine.\n"),
    edit("four.md", null),
    copyBack("five.md", factOf("four", "Renamed.")),
    edit("MEMORY.md", "- [one](one.md) — First.\n"),
    { do: "restart" },
    look,
  ],
  "removals by hand among calls, then a restart": [
    upsert("one", "First."),
    remove("one"),
    edit("one.md", factOf("one", "First.")),
    upsert("two", "Second."),
    edit("two.md", null),
    upsert("three", "Third."),
    { do: "restart" },
    look,
    upsert("two", "Again."),
    copyBack("two.md", factOf("two", "Second.")),
    upsert("three", "Fourth."),
    { do: "restart" },
    look,
  ],
  "edit meanwhile": [
    upsert("one", "First."),
    {
      do: "edit meanwhile",
      path: "MEMORY.md",
      text: "# Mine\n- [one](one.md) — x\n",
      call: { do: "upsert", name: "one", body: "Second." },
    },
    { do: "edit meanwhile", path: "one.md", text: "Mine.\n", call: { do: "delete", name: "one" } },
  ],
  "two processes": [
    upsert("one", "First."),
    process(2),
    upsert("two", "Second."),
    process(1),
    upsert("one", "Third."),
    process(2),
    remove("one"),
    process(1),
    look,
    upsert("two", "Fourth."),
  ],
  "two processes retire": [
    upsert("one", "First."),
    process(2),
    upsert("two", "Second."),
    close,
    process(1),
    upsert("one", "Third."),
    process(2),
    look,
    upsert("two", "Fourth."),
    process(1),
    close,
    process(2),
    remove("two"),
  ],
  // New records are written over old ones of the same length.
  "same places again": ["a", "b", "c", "d"].flatMap((letter): Step[] => [
    upsert("one", long(1800, letter)),
    { do: "restart" },
    look,
  ]),
  // The other process has retired the records that this one remembers, and has written more.
  "retired meanwhile": [
    upsert("zero", "First."),
    process(2),
    ...many(67, 300),
    process(1),
    upsert("zero", "Second."),
    look,
  ],
  "many small calls": [...many(70, 40), look],
  "many large calls": [...many(24, 7000), look],
  "the WAL's flush fails": [
    upsert("one", "First."),
    failFlush("journal"),
    upsert("two", "Lost."),
    upsert("three", "Third."),
    look,
    failFlush("journal"),
    remove("one"),
    upsert("one", "Again."),
  ],
  "the first call's flush fails": [failFlush("journal"), upsert("one", "Lost."), upsert("two", "Kept.")],
  "a fact's flush fails": [
    upsert("one", "First."),
    upsert("two", "Second."),
    failFlush("one.md"),
    close,
    upsert("two", "Third."),
    close,
    look,
    remove("one"),
  ],
  "a folder's flush fails": [
    upsert("one", "First."),
    failFlush("memory"),
    close,
    look,
    upsert("two", "Second."),
    remove("one"),
    close,
  ],
  "a checkpoint's flush fails": [
    upsert("one", "First."),
    failFlush("journal"),
    close,
    upsert("two", "Second."),
    upsert("three", "Third."),
    close,
    look,
  ],
};

const ofStores: Table = {
  "first change of two stores": [put("ab", "one")],
  "first change of three stores": [put("abc", "one"), put("abc", "one", "x".repeat(900))],
  "move between stores": [put("a", "one"), move("a", "b", "one"), move("b", "a", "one", true)],
  "changes of one and of several stores": [
    put("ab", "one"),
    put("b", "two"),
    put("a", "three"),
    move("a", "c", "three"),
    put("c", "four"),
    look,
  ],
  "each store leads and follows": [put("ab", "one"), put("bc", "two"), put("ac", "three"), put("b", "x")],
  "grants with entries": [grant("a", "b", "first"), grant("b", "ac", "second"), grant("a", "a", "third")],
  "changes of several stores and retirement": [
    put("ab", "one"),
    close,
    look,
    move("a", "b", "one"),
    close,
    put("b", "two"),
    close,
    look,
  ],
  "edits between changes of several stores": [
    put("ab", "one"),
    edit("b/one.md", "Edited by hand.\n"),
    put("abc", "two"),
    edit("a/two.md", "Mine.\n"),
    edit("c/notes.md", "Made by hand.\n"),
    move("b", "c", "one"),
    edit("c/one.md", null),
    put("ac", "one"),
  ],
  "an edit during a change of several stores": [
    put("ab", "one"),
    {
      do: "edit meanwhile",
      path: "b/index.md",
      text: "Mine.\n",
      call: { do: "put", in: "ab", name: "two", body: "Second." },
    },
    {
      do: "edit meanwhile",
      path: "a/one.md",
      text: "Mine.\n",
      call: { do: "move", from: "a", to: "b", name: "one", keeps: true },
    },
  ],
  "two processes change several stores": [
    put("ab", "one"),
    process(2),
    move("a", "c", "one"),
    process(1),
    put("bc", "two"),
    process(2),
    put("a", "three"),
    close,
    process(1),
    put("abc", "four"),
    look,
  ],
  "a change of several stores after a restart": ["x", "y", "z"].flatMap((letter): Step[] => [
    put("ab", "one", letter.repeat(1800)),
    { do: "restart" },
    look,
  ]),
  "a flush of three stores fails, one after the other": [
    put("abc", "one"),
    ...[1, 2, 3, 4, 5].flatMap((nth): Step[] => [
      failFlush("journal", nth - 1),
      put("abc", `of-${nth}`),
      put("abc", "next"),
    ]),
    look,
  ],
  // After a power cut the refused change can be there: in both stores.
  "a leader's record can appear again": [
    put("ab", "one"),
    failFlush("journal", 1),
    failFlush(".memcell"),
    put("ab", "two"),
    process(2),
    put("b", "three"),
  ],
  "neither a leader's record nor its new WAL can be flushed": [
    put("ab", "one"),
    process(2),
    put("b", "two"),
    process(1),
    failFlush("journal", 1),
    failFlush(".memcell"),
    put("ab", "three"),
    process(2),
    close,
    put("b", "four"),
    look,
    process(1),
    put("ab", "five"),
  ],
  "an entry's flush fails in one of two stores": [
    put("ab", "one"),
    failFlush("one.md"),
    close,
    put("ab", "two"),
    look,
    close,
  ],
};

/** The user is erased, all or nothing. */
const ofErased: Table = {
  erase: [upsert("one", "First."), upsert("note", "Mine."), erase, look],
  "erase, and begin anew": [
    upsert("note", "Mine."),
    upsert("one", "First."),
    close,
    erase,
    upsert("note", "Anew."),
    upsert("one", "Second."),
    process(2),
    look,
    erase,
  ],
};

/** Writes wait, are approved and rejected, runs lose trust, and changes are undone. */
const ofGate: Table = {
  "the first write of a user waits": [gate("wait", "page", "From a page."), gate("approve")],
  "waits, is approved and rejected": [
    gate("write", "mine", "My words."),
    gate("wait", "mine", "Of a page."),
    gate("approve"),
    gate("wait", "other", "Of another page."),
    gate("reject"),
  ],
  "a run reads and is trusted less": [
    gate("infer", "guess", "A guess."),
    gate("read", "guess"),
    gate("write", "mine", "My words."),
    gate("read", "guess"),
  ],
  "an undo among writes that wait": [
    gate("write", "mine", "My words."),
    gate("infer", "guess", "A guess."),
    gate("wait", "page", "Of a page."),
    gate("infer", "mine", "Not mine."),
    gate("undo"),
    close,
    gate("approve"),
    gate("read", "guess"),
  ],
  "two processes decide": [
    gate("infer", "guess", "A guess."),
    gate("wait", "page", "Of a page."),
    process(2),
    gate("read", "guess"),
    gate("wait", "other", "Of another page."),
    process(1),
    gate("approve"),
    process(2),
    gate("reject"),
    close,
    process(1),
    gate("read", "guess"),
  ],
  "the flush of a write that waits fails": [
    gate("write", "mine", "My words."),
    failFlush("pending"),
    gate("wait", "page", "Of a page."),
    gate("wait", "page", "Of a page."),
    failFlush("pending"),
    gate("approve"),
    gate("approve"),
  ],
};

const densities: Readonly<Record<string, number>> = {
  "many small calls": 0.04,
  "many large calls": 0.1,
  "same places again": 3,
  "retired meanwhile": 0.02,
  "move between stores": 0.4,
  "a change of several stores after a restart": 2,
  "a flush of three stores fails, one after the other": 0.4,
  "a leader's record can appear again": 2,
  "an undo among writes that wait": 0.5,
  "two processes decide": 0.3,
};

const scriptsOf = (table: Table, subject: Subject): Script[] =>
  Object.entries(table).map(([name, steps]) => ({ name, steps, subject, density: densities[name] ?? 1 }));

export const scripts: readonly Script[] = [
  ...scriptsOf(ofUser, userSubject(alice)),
  ...scriptsOf(ofStores, storeSubject),
  ...scriptsOf(ofErased, erasedSubject),
  ...scriptsOf(ofGate, gateSubject),
];
