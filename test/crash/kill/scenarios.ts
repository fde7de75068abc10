/** What processes are killed at, and where the disk fails. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { close, erase, gate, grant, look, move, put, recreate, remove, restore, upsert } from "../homes/step.ts";
import type { Step } from "../homes/step.ts";
import { boots, subjects } from "../homes/subjects.ts";
import type { Scenario } from "./scenario.ts";

const [, nextBoot] = boots;
const twoFacts = [upsert("a", "first"), upsert("b", "second")];

/** The text that a person wrote over a fact between a crash and the recovery. */
export const editedText = "a person's own words\n";

const save = (dataDir: string, path: string, text: string | Buffer): void => {
  const file = join(dataDir, ...subjects.user.placeOf(path));
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
};

/** Leaves files as after a stop of the machine: empty, old or missing. A person has edited one of them. */
function crash(dataDir: string): void {
  save(dataDir, "a.md", "first\n");
  rmSync(join(dataDir, "users/alice/memory/trash"), { recursive: true });
  save(dataDir, "b.md", "");
  save(dataDir, "c.md", editedText);
}

const ofUser: Omit<Scenario, "of">[] = [
  { name: "first upsert of a new user", before: [], step: upsert("a", "new") },
  { name: "upsert", before: twoFacts, step: upsert("c", "new") },
  {
    name: "replace, by a process that knows the WAL",
    before: twoFacts,
    warm: [upsert("a", "changed")],
    step: upsert("a", "changed again"),
  },
  { name: "delete", before: twoFacts, step: remove("a") },
  { name: "restore", before: [...twoFacts, remove("a")], step: restore("a") },
  {
    name: "upsert over a file that is not text",
    before: [...twoFacts, close],
    disturb: (dataDir) => save(dataDir, "a.md", Buffer.from([0xff])),
    step: recreate("a", "mended"),
  },
  {
    name: "upsert that makes the WAL long enough to be retired",
    // Records of 4 MiB retire it.
    before: [...twoFacts, ...Array.from({ length: 6 }, (_, at) => upsert(`c${at}`, "x".repeat(680_000)))],
    step: upsert("b", "x".repeat(120_000)),
    closes: true,
  },
  { name: "retirement", before: twoFacts, warm: [remove("a"), upsert("c", "third")], step: close },
  {
    name: "recovery from a kill",
    before: twoFacts,
    // Leaves a change of three files of which only the first has been moved to its place.
    killedIn: { step: recreate("a", "mended"), systemCall: "rename", ordinal: 2 },
    step: look,
  },
  {
    name: "recovery from a crash",
    before: [...twoFacts, remove("a"), upsert("b", "changed"), upsert("c", "third")],
    disturb: crash,
    boot: nextBoot,
    step: look,
  },
];

const twoStores = [put("ab", "one", "first"), put("b", "two", "second")];
const twoAgain = put("ab", "one", "changed");
const lookAt = (home: string, writes = true): Step => ({ do: "look at one", home, writes });

/** The first flush is that of the part: nothing is committed. */
const uncommitted = { step: twoAgain, systemCall: "fdatasync", ordinal: 1 };
/** The second is that of the leader, whose record is there but not flushed. */
const unflushed = { step: twoAgain, systemCall: "fdatasync", ordinal: 2 };
/** The leader has applied its two files, and the other store one of two. */
const halfApplied = { step: twoAgain, systemCall: "renameat2", ordinal: 4 };

const ofStores: Omit<Scenario, "of" | "before">[] = [
  { name: "change of two stores", step: twoAgain },
  { name: "change of three stores, of which one is new, with grants", step: grant("a", "bc", "granted") },
  {
    name: "move between stores, by a process that knows the WALs",
    warm: [twoAgain],
    step: move("b", "a", "two", true),
  },
  { name: "recovery of an uncommitted change", killedIn: uncommitted, step: look },
  { name: "recovery of a committed change", killedIn: unflushed, step: lookAt("b", false) },
  { name: "recovery of a half applied change", killedIn: halfApplied, step: lookAt("b") },
  { name: "recovery of a half applied change after a crash", killedIn: halfApplied, boot: nextBoot, step: look },
  { name: "recovery of an uncommitted change after a crash", killedIn: uncommitted, boot: nextBoot, step: lookAt("b") },
];

type Killed = NonNullable<Scenario["killedIn"]>;
const everything = [upsert("one", "first"), upsert("note", "first\n")];
const erasing = { step: erase, systemCall: "rename" };
/** The store has its mark, and nothing counts yet; the folder is renamed, so the erasure counts; both are renamed. */
const [marked, decided, followed] = [2, 3, 4].map((ordinal) => Object.assign({ ordinal }, erasing)) as [
  Killed,
  Killed,
  Killed,
];

const ofErased: Omit<Scenario, "of" | "before">[] = [
  { name: "erase a user", step: erase },
  {
    name: "erase a user, by a process that knows the WALs",
    warm: [upsert("one", "second"), upsert("note", "second\n")],
    step: erase,
  },
  { name: "take back an erasure", killedIn: marked, step: look },
  { name: "finish an erasure", killedIn: decided, step: look },
  { name: "finish an erasure after a crash", killedIn: followed, boot: nextBoot, step: look },
];

const mine = gate("write", "mine", "My words.");
const guess = gate("infer", "guess", "A guess.");
const waiting = gate("wait", "mine", "Of a page.");

/** Of a whole runtime: again, such a step ends as it would have without the kill or the failure. */
const ofGate: Omit<Scenario, "of">[] = [
  { name: "the first write of a user waits", before: [], step: waiting },
  { name: "a write waits", before: [mine, guess], step: waiting },
  { name: "a write is approved", before: [mine, guess, waiting], step: gate("approve") },
  { name: "a write is rejected", before: [mine, guess, waiting], step: gate("reject") },
  { name: "a run reads and is trusted less", before: [mine, guess, waiting], step: gate("read", "guess") },
  {
    name: "a run's changes are undone",
    before: [mine, waiting, guess, gate("infer", "mine", "Not mine.")],
    step: gate("undo"),
  },
];

export const scenarios: readonly Scenario[] = [
  ...ofUser.map((each) => Object.assign({ of: "user" as const }, each)),
  { name: "first change of two stores", of: "stores", before: [], step: put("ab", "one", "new") },
  ...ofStores.map((each) => Object.assign({ of: "stores" as const, before: twoStores }, each)),
  ...ofErased.map((each) => Object.assign({ of: "erased" as const, before: everything }, each)),
  ...ofGate.map((each) => Object.assign({ of: "gate" as const }, each)),
];
