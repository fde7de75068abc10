/** What a script works on: a user's memory, or some shared stores. */
import type { ChangeSet, Seen, UserReader } from "../../stage/store.ts";
import type { FileStore } from "../host-under-test.ts";
import type { Files } from "./expected-memory.ts";
import type { GateOperation } from "./gate-operation.ts";
import type { Host } from "./host.ts";
import type { Step } from "./step.ts";
import type { Tree } from "./tree.ts";

export type StoreUnderTest = InstanceType<typeof FileStore>;

/** A store, and the folder in which the runtime's threads read its files. */
export interface StorePlace {
  readonly store: StoreUnderTest;
  readonly path: string;
}

export interface Subject<Operation> {
  /** The files by their keys. A key is the path, after the name of the store if there are several. */
  filesIn(tree: Tree): Files;
  /** The host's leftovers. */
  stagedIn(tree: Tree): string[];
  /** The names of the folders to a file, then the file's. */
  placeOf(key: string): readonly string[];
  keyOf(change: { readonly scope: string; readonly path: string }): string;
  openReader(store: StoreUnderTest): UserReader;
  changesFor(reader: UserReader, operation: Operation, number: number): ChangeSet;
  hold(
    store: StoreUnderTest,
    options: { readonly writes: boolean; readonly until: number },
    work: (commit: (changes: ChangeSet, seen: readonly Seen[]) => Promise<void>) => Promise<void>,
  ): Promise<void>;
  /** Erases everything. */
  erase?(store: StoreUnderTest, until: number): Promise<void>;
  /** Whether a person edits files after a crash. Default: yes. */
  readonly isEdited?: boolean;
  /** Does an operation that a whole runtime has to do. */
  perform?(host: Host, place: StorePlace, operation: GateOperation): Promise<void>;
  /** What such an operation may leave behind while it is under way, and what it ends in. */
  statesOf?(
    host: Host,
    disk: { readonly tree: Tree; readonly boot: string },
    operation: GateOperation,
  ): Promise<{ readonly during: readonly Files[]; readonly after: Files }>;
  /** How often one part is recovered before all, from 0 to 1. */
  readonly lookShare: number;
  /** Recovers one part only, if there are several: a number from 0 to 1 chooses it. */
  lookAtOne(store: StoreUnderTest, choice: number): Promise<void>;
  /** A call after a crash. `choice`: a number from 0 to 1. */
  callAfterCrash(depth: number, choice: number): Step;
}
