/** What processes are killed at, and where the disk fails. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { stepOf, stepsOf } from "../homes/step.ts";
import { boots, subjects } from "../homes/subjects.ts";
import type { SubjectName } from "../homes/subjects.ts";
import type { Scenario } from "./scenario.ts";

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

/** A kill at the system call with this number. */
const killedIn = (step: string, systemCall: string, ordinal: number): Pick<Scenario, "killedIn"> => ({
  killedIn: { step: stepOf(step), systemCall, ordinal },
});
const later = { boot: boots[1] };

interface Given extends Partial<Pick<Scenario, "killedIn" | "disturb" | "boot" | "flushes" | "durability" | "closes">> {
  readonly before?: string;
  readonly warm?: string;
}
type Row = readonly [name: string, step: string, given?: Given];

const ofUser: readonly Row[] = [
  ["first upsert of a new user", "upsert a", { before: "" }],
  ["upsert", "upsert c"],
  ["replace, by a process that knows the journal", "upsert a changed", { warm: "upsert a", flushes: 1 }],
  ["replace without durability", "upsert a changed", { warm: "upsert a", durability: "relaxed", flushes: 0 }],
  ["delete", "delete a"],
  ["restore", "restore a", { before: "upsert a; upsert b; delete a" }],
  [
    "upsert over a file that is not text",
    "recreate a mended",
    { before: "upsert a; upsert b; close", disturb: (dataDir) => save(dataDir, "a.md", Buffer.from([0xff])) },
  ],
  [
    "upsert that makes the journal long enough to be settled",
    "upsert b 120000",
    // Records of 4 MiB retire it.
    { before: `upsert a; upsert b; ${"cdefgh".replaceAll(/\w/g, "upsert $& 680000; ")}look`, closes: true },
  ],
  ["retirement", "close", { warm: "delete a; upsert c" }],
  // Leaves a change of three files of which only the first has been moved to its place.
  ["recovery from a kill", "look", killedIn("recreate a mended", "rename", 2)],
  [
    "recovery from a crash",
    "look",
    { before: "upsert a; upsert b; delete a; upsert b; upsert c", disturb: crash, ...later },
  ],
];

const ofStores: readonly Row[] = [
  ["first change of two stores", "put ab one", { before: "" }],
  ["change of three stores, of which one is new, with grants", "grant a bc granted"],
  ["move between stores, by a process that knows the journals", "move b a two trashed", { warm: "put ab one changed" }],
  // The first store has applied its two files, and the other one of two.
  ["recovery of a half applied change", "look-at b", killedIn("put ab one changed", "renameat2", 4)],
];

const ofErased: readonly Row[] = [
  ["erase a user", "erase"],
  ["erase a user, by a process that knows the journals", "erase", { warm: "upsert one; upsert note" }],
  // The store has its mark, and nothing counts yet; the folder is renamed, so the erasure counts; both are renamed.
  ["take back an erasure", "look", killedIn("erase", "rename", 2)],
  ["finish an erasure", "look", killedIn("erase", "rename", 3)],
  ["finish an erasure after a crash", "look", { ...killedIn("erase", "rename", 4), ...later }],
];

/** Of a whole runtime: again, such a step ends as it would have without the kill or the failure. */
const ofGate: readonly Row[] = [
  ["the first write of a user waits", "wait mine", { before: "" }],
  ["a write waits", "wait mine", { before: "write mine; infer guess" }],
  ["a call of a known user", "write mine again", { warm: "write mine", flushes: 1 }],
  ["a write is approved", "approve"],
  ["a write is approved as it was corrected", "approve corrected"],
  ["a write is rejected", "reject"],
  ["a run reads and is trusted less", "read guess"],
  ["a rename into another store", "rename note", { before: "write note" }],
  [
    "a run's changes of a memory and an own store are undone",
    "undo",
    { before: "write mine; wait mine; infer guess; infer mine; infer note" },
  ],
];

const tables: readonly (readonly [of: SubjectName, before: string, rows: readonly Row[]])[] = [
  ["user", "upsert a; upsert b", ofUser],
  ["stores", "put ab one first; put b two second", ofStores],
  ["erased", "upsert one; upsert note", ofErased],
  ["gate", "write mine; infer guess; wait mine", ofGate],
];

const stepsIn = (script: string): Scenario["before"] => (script === "" ? [] : stepsOf(script));

export const scenarios: readonly Scenario[] = tables.flatMap(([of, usual, rows]) =>
  rows.map(([name, step, { before = usual, warm = "", ...given } = {}]) => {
    return { name, of, step: stepOf(step), before: stepsIn(before), warm: stepsIn(warm), ...given };
  }),
);
