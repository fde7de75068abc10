/** Scripts, each for one thing that can go wrong. */
import type { AnyOperation, Step } from "./step.ts";
import type { Subject } from "./subject.ts";

export interface Script {
  readonly name: string;
  readonly steps: readonly Step[];
  /** Default: a user's memory. */
  readonly subject?: Subject<AnyOperation>;
  /** For long scripts: the share of the usual number of states at each point. */
  readonly density?: number;
}

const upsert = (name: string, body: string): Step => ({ do: "upsert", name, body });
const remove = (name: string): Step => ({ do: "delete", name });
const restore = (name: string): Step => ({ do: "restore", name });
const recreate = (name: string, body: string): Step => ({ do: "recreate", name, body });
const edit = (path: string, text: string | null): Step => ({ do: "edit", path, text });
/** As `cp -a` of a backup does it. */
const copyBack = (path: string, text: string): Step => ({ do: "edit", path, text, isOld: true });
const factOf = (name: string, body: string): string => `---\nname: ${name}\n---\n${body}\n`;
const process = (to: number): Step => ({ do: "change process", to });
const [look, close]: [Step, Step] = [{ do: "look" }, { do: "close" }];
const long = (bytes: number, letter: string): string => `${letter.repeat(bytes)}.`;

/** With enough small calls the WAL is retired by number, with enough large ones by size. */
const many = (count: number, bytes: number): Step[] =>
  Array.from({ length: count }, (_, at) =>
    at % 7 === 6 ? remove(`fact-${at % 5}`) : upsert(`fact-${at % 5}`, long(bytes, `${at} `)),
  );

export const scripts: readonly Script[] = [
  { name: "first call", steps: [upsert("one", "First.")] },
  { name: "two calls", steps: [upsert("one", "First."), upsert("two", long(1500, "b"))] },
  { name: "replace", steps: [upsert("one", long(900, "a")), upsert("one", long(1400, "b")), upsert("one", "Short.")] },
  { name: "delete", steps: [upsert("one", "First."), upsert("two", "Second."), remove("one"), remove("two")] },
  {
    name: "recreate",
    steps: [upsert("one", "First."), edit("one.md", "Not a fact.\n"), recreate("one", "Anew."), remove("one")],
  },
  {
    name: "restore",
    steps: [upsert("one", "First."), upsert("two", "Second."), remove("one"), restore("one"), remove("one"), close],
  },
  {
    name: "undo",
    steps: [
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
  },
  {
    name: "retire",
    steps: [upsert("one", "First."), upsert("two", "Second."), close, look, remove("one"), close, look],
  },
  {
    name: "edits between calls",
    steps: [
      upsert("one", "First."),
      edit("MEMORY.md", "# Mine\n- [one](one.md) — my words\n"),
      edit("one.md", "---\nname: one\n---\nEdited by hand.\n"),
      upsert("two", "Second."),
      edit("two.md", "Mine now.\n"),
      edit("notes.md", "Made by hand.\n"),
      upsert("one", "Replaced."),
      edit("MEMORY.md", null),
    ],
  },
  {
    name: "edits and retirement",
    steps: [upsert("one", "First."), edit("one.md", "Mine.\n"), close, edit("one.md", "Mine again.\n"), look, close],
  },
  {
    // The machine starts again before anybody uses the user's files.
    name: "changes by hand, then a restart",
    steps: [
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
  },
  {
    name: "removals by hand among calls, then a restart",
    steps: [
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
  },
  {
    name: "edit meanwhile",
    steps: [
      upsert("one", "First."),
      {
        do: "edit meanwhile",
        path: "MEMORY.md",
        text: "# Mine\n- [one](one.md) — x\n",
        call: { do: "upsert", name: "one", body: "Second." },
      },
      { do: "edit meanwhile", path: "one.md", text: "Mine.\n", call: { do: "delete", name: "one" } },
    ],
  },
  {
    name: "two processes",
    steps: [
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
  },
  {
    name: "two processes retire",
    steps: [
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
  },
  {
    // New records are written over old ones of the same length.
    name: "same places again",
    steps: ["a", "b", "c", "d"].flatMap((letter): Step[] => [
      upsert("one", long(1800, letter)),
      { do: "restart" },
      look,
    ]),
    density: 3,
  },
  {
    // The other process has retired the records that this one remembers, and has written more.
    name: "retired meanwhile",
    steps: [upsert("zero", "First."), process(2), ...many(67, 300), process(1), upsert("zero", "Second."), look],
    density: 0.02,
  },
  { name: "many small calls", steps: [...many(70, 40), look], density: 0.04 },
  { name: "many large calls", steps: [...many(24, 7000), look], density: 0.1 },
  {
    name: "the WAL's flush fails",
    steps: [
      upsert("one", "First."),
      { do: "fail flush", name: "journal" },
      upsert("two", "Lost."),
      upsert("three", "Third."),
      look,
      { do: "fail flush", name: "journal" },
      remove("one"),
      upsert("one", "Again."),
    ],
  },
  {
    name: "the first call's flush fails",
    steps: [{ do: "fail flush", name: "journal" }, upsert("one", "Lost."), upsert("two", "Kept.")],
  },
  {
    name: "a fact's flush fails",
    steps: [
      upsert("one", "First."),
      upsert("two", "Second."),
      { do: "fail flush", name: "one.md" },
      close,
      upsert("two", "Third."),
      close,
      look,
      remove("one"),
    ],
  },
  {
    name: "a folder's flush fails",
    steps: [
      upsert("one", "First."),
      { do: "fail flush", name: "memory" },
      close,
      look,
      upsert("two", "Second."),
      remove("one"),
      close,
    ],
  },
  {
    name: "a checkpoint's flush fails",
    steps: [
      upsert("one", "First."),
      { do: "fail flush", name: "journal" },
      close,
      upsert("two", "Second."),
      upsert("three", "Third."),
      close,
      look,
    ],
  },
];
