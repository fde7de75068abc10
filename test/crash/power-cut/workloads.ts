/** What is done on a disk before its power is cut: by a store, and by a whole runtime. */
import type { UserId } from "../../stage/store.ts";
import { gate, grant, move, put, recreate, remove, restore, upsert } from "../homes/step.ts";
import type { Step } from "../homes/step.ts";
import type { Subject } from "../homes/subject.ts";
import { subjects } from "../homes/subjects.ts";
import { userSubject } from "../homes/user.ts";

export interface Workload {
  readonly name: string;
  /** What it works on. */
  readonly subjects: readonly Subject[];
  /** Each with the place of its subject. */
  readonly steps: readonly (readonly [of: number, step: Step])[];
  /** Before this step the stores are closed, which retires all WALs, and opened again. */
  readonly reopensBefore: number;
}

/** Takes several blocks, so that it can survive in part. */
const large = "A line of a long memory, of which a part may be lost.\n".repeat(1200);
const [alice, other, carol, stores] = [0, 1, 2, 3];

export const workloads: readonly Workload[] = [
  {
    name: "a store",
    subjects: [subjects.user, userSubject("Ünïcode." as UserId), userSubject("carol" as UserId), subjects.stores],
    steps: [
      [alice, upsert("a", "first")],
      [stores, put("ab", "one", "of two stores")],
      [other, upsert("a", "of another")],
      [alice, upsert("b", "second")],
      [carol, upsert("long", large)],
      [alice, upsert("a", "first, replaced")],
      [stores, put("ab", "one", large)],
      [stores, grant("a", "bc", "granted")],
      [alice, recreate("b", "second, mended")],
      [carol, upsert("long", `${large}and more`)],
      [alice, remove("a")],
      [other, remove("a")],
      [stores, put("abc", "two", "of three stores")],
      [stores, move("a", "c", "one", true)],
      [alice, restore("a")],
      [carol, upsert("long", large.toUpperCase())],
      [carol, upsert("long", "no longer long")],
      [other, upsert("a", "again")],
      [stores, move("c", "b", "two")],
      [alice, remove("b")],
    ],
    reopensBefore: 9,
  },
  {
    name: "a runtime",
    subjects: [subjects.gate],
    steps: [
      gate("wait", "first", "The user's first write waits."),
      gate("approve"),
      gate("write", "mine", "My words."),
      gate("infer", "guess", "A guess."),
      gate("read", "guess"),
      gate("wait", "mine", large),
      gate("infer", "mine", "A second guess."),
      gate("undo"),
      gate("approve"),
      gate("wait", "other", large),
      gate("wait", "more", "Of a page."),
      gate("reject"),
      gate("infer", "guess", "Another guess."),
      gate("approve"),
      gate("read", "guess"),
      gate("undo"),
    ].map((step) => [0, step] as const),
    reopensBefore: 9,
  },
];
