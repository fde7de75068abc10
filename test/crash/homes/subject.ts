/** What steps work on: a user's memory, some shared stores, a user who is erased, or a user of a whole runtime. */
import type { ChangeSet, Seen, UserReader } from "../../stage/store.ts";
import type { Host, StoreUnderTest } from "../store-under-test.ts";
import type { ChangeOperation, GateOperation, Step } from "./step.ts";
import type { Files, Tree } from "./tree.ts";

/** A store, and the folder in which the runtime's threads read its files. */
export interface StorePlace {
  readonly host: Host;
  readonly store: StoreUnderTest;
  readonly path: string;
}

export interface HoldOptions {
  readonly writes: boolean;
  readonly until: number;
}

export interface Subject {
  /** The files by their keys. A key is the path, after the name of the store if there are several. */
  filesIn(tree: Tree): Files;
  /** The host's leftovers. */
  stagedIn(tree: Tree): string[];
  /** The names of the folders to a file, then the file's. */
  placeOf(key: string): readonly string[];
  keyOf(change: { readonly scope: string; readonly path: string }): string;
  openReader(store: StoreUnderTest): UserReader;
  /** `number`: of the operation in its script. */
  changesFor(reader: UserReader, operation: ChangeOperation, number: number): ChangeSet;
  hold(
    store: StoreUnderTest,
    options: HoldOptions,
    work: (commit: (changes: ChangeSet, seen: readonly Seen[]) => Promise<void>) => Promise<void>,
  ): Promise<void>;
  /** The parts that are committed one after the other. Default: it is one. */
  partsOf?(changes: ChangeSet): readonly ChangeSet[];
  /** Fails if calls find a part of what is there as a whole or not at all. */
  check?(store: StoreUnderTest, options: HoldOptions): Promise<void>;
  /** Erases everything. */
  erase?(store: StoreUnderTest, until: number): Promise<void>;
  /** Does an operation that a whole runtime has to do. */
  perform?(place: StorePlace, operation: GateOperation): Promise<void>;
  /** Whether a person edits files after a crash. Default: yes. */
  readonly isEdited?: boolean;
  /** Its parts, which can be recovered each before all. Default: it has none. */
  readonly homes?: readonly string[];
  /** Recovers one part only. */
  lookAtOne?(store: StoreUnderTest, home: string, options: HoldOptions): Promise<void>;
  /** A call after a crash. `choice`: a number from 0 to 1. */
  callAfterCrash(depth: number, choice: number): Step;
}

/** Takes a step on a real disk. `waitMs`: for a lock. */
export async function takeStep(
  subject: Subject,
  place: StorePlace,
  step: Step,
  { number = 1, waitMs = 30_000 }: { readonly number?: number; readonly waitMs?: number } = {},
): Promise<void> {
  const { store } = place;
  const options = { writes: true, until: performance.now() + waitMs };
  switch (step.do) {
    case "look":
      await subject.check?.(store, options);
      return await subject.hold(store, options, () => Promise.resolve());
    case "look at one":
      return await subject.lookAtOne?.(store, step.home, { ...options, writes: step.writes });
    case "close":
      return await store.close();
    case "erase":
      return await subject.erase?.(store, options.until);
    case "gate":
      return await subject.perform?.(place, step);
    case "edit":
    case "edit meanwhile":
    case "change process":
    case "restart":
    case "fail flush":
    case "fill":
      throw new RangeError(`Only the model can "${step.do}"`);
    case "upsert":
    case "recreate":
    case "delete":
    case "restore":
    case "put":
    case "move":
    case "grant":
      return await subject.hold(store, options, async (commit) => {
        using reader = subject.openReader(store);
        const changes = subject.changesFor(reader, step, number);
        for (const part of subject.partsOf?.(changes) ?? [changes]) await commit(part, reader.seen);
      });
  }
}
