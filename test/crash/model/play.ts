/** Runs a script of operations, edits and failures on a recorded data folder, and notes the allowed states. */
import type { HeldUser, Store, StoreReaders } from "../../../host/store/store.ts";
import type { ChangeSet } from "../../../host/values/change-set.ts";
import type { UserId } from "../../../host/values/user-id.ts";
import { presentTree } from "./crash-states.ts";
import { afterChanges, afterEdit, differences } from "./expected-memory.ts";
import type { EditRule, Expected, Files } from "./expected-memory.ts";
import type { Host } from "./host.ts";
import { changesFor } from "./operation.ts";
import type { Operation } from "./operation.ts";
import type { Recording } from "./recording.ts";
import { memoryIn } from "./user-tree.ts";

export type Step =
  | Operation
  /** A person saves a file, or removes it. */
  | { readonly do: "edit"; readonly path: string; readonly text: string | null }
  /** The same, between the tool's reads and its commit. */
  | { readonly do: "edit meanwhile"; readonly path: string; readonly text: string; readonly call: Operation }
  /** Another process does the following steps. */
  | { readonly do: "change process"; readonly to: number }
  /** A call that writes nothing. */
  | { readonly do: "look" }
  /** Retires the WAL and ends the process. */
  | { readonly do: "close" }
  /** The machine shuts down cleanly and starts again. */
  | { readonly do: "restart" }
  /** The next flush of this file or folder fails. */
  | { readonly do: "fail flush"; readonly name: string };

/** The states that a crash may leave behind from an effect on. */
interface Moment {
  readonly effects: number;
  readonly possible: readonly Expected[];
}

export interface PlaySetup {
  readonly host: Host;
  readonly recording: Recording;
  readonly boot: string;
  readonly rule: EditRule;
  /** A flush failed and its process was killed: a refused change may be there or not, until another change follows. */
  readonly keepsDoubts: boolean;
}

export const user = "alice" as UserId;

/** Enough time for any call: one that waits longer has hung. */
const until = (): number => performance.now() + 20_000;

export class Play {
  readonly timeline: Moment[] = [];
  readonly notes: string[] = [];
  readonly #host: Host;
  readonly #recording: Recording;
  readonly #machine: string;
  #restarts = 0;
  readonly #rule: EditRule;
  readonly #stores = new Map<number, Store & StoreReaders>();
  #process = 1;
  #possible: readonly Expected[];
  /** States that are not visible now but may appear after a crash, until the next change is acknowledged. */
  #doubts: readonly Expected[] = [];
  readonly #keepsDoubts: boolean;
  #number: number;

  constructor({ host, recording, boot, rule, keepsDoubts }: PlaySetup, possible: readonly Expected[]) {
    this.#host = host;
    this.#recording = recording;
    this.#machine = boot;
    this.#rule = rule;
    this.#keepsDoubts = keepsDoubts;
    this.#possible = possible;
    this.#number = possible[0]?.files.size ?? 0;
    this.#expect(possible);
  }

  async run(script: readonly Step[]): Promise<void> {
    for (const step of script) await this.#do(step);
    // Work in the background holds the lock.
    for (const process of this.#stores.keys()) {
      this.#process = process;
      await this.#look();
    }
  }

  possibleAt(effects: number): readonly Expected[] {
    return this.timeline.findLast((each) => each.effects <= effects)?.possible ?? [];
  }

  async #do(step: Step): Promise<void> {
    if (step.do === "edit") return this.#edit(step.path, step.text);
    if (step.do === "change process") this.#process = step.to;
    else if (step.do === "look") await this.#look();
    else if (step.do === "close") await this.#close();
    else if (step.do === "restart") this.#restart();
    else if (step.do === "fail flush") this.#recording.failNextFlush(step.name);
    else if (step.do === "edit meanwhile") await this.#call(step.call, () => this.#edit(step.path, step.text));
    else await this.#call(step);
  }

  async #call(operation: Operation, meanwhile?: () => void): Promise<void> {
    let edit = meanwhile;
    let before: readonly Expected[] | null = null;
    this.#number++;
    const work = async (held: HeldUser): Promise<void> => {
      this.#narrow();
      const bases = this.#possible;
      using reader = this.#store.openUser(user);
      const changes: ChangeSet = changesFor(reader, operation, this.#number);
      const seen = reader.seen;
      if (edit) edit();
      const isFirst = edit !== undefined;
      edit = undefined;
      const name = `${operation.do} ${operation.name} (${this.#number})`;
      const after = bases.map((each) => afterChanges(each, changes, name));
      before = isFirst ? null : bases;
      if (before) this.#expect([...bases, ...after]);
      await held.commit(changes, seen);
      this.#doubts = [];
      this.#expect(after);
    };
    await this.#store.hold(user, { writes: true, until: until() }, work).catch((error: unknown) => {
      if (error instanceof Mismatch || !isDiskFailure(error)) throw error;
      // The change was refused, so it must not be there.
      if (before) this.#expect(before);
    });
  }

  async #look(): Promise<void> {
    await this.#store.hold(user, { writes: false, until: until() }, () => {
      this.#narrow();
      return Promise.resolve();
    });
  }

  #edit(path: string, text: string | null): void {
    const place = ["users", user, "memory", ...path.split("/")];
    const after = this.#possible.map((each) => afterEdit(each, path, text));
    this.#doubts = this.#doubts.map((each) => afterEdit(each, path, text));
    this.#expect([...this.#possible, ...after]);
    this.#recording.saveByHand(place, text);
    this.#expect(after);
  }

  async #close(): Promise<void> {
    await this.#store.close();
    this.#stores.delete(this.#process);
  }

  #restart(): void {
    this.#recording.settle();
    this.#stores.clear();
    this.#restarts++;
  }

  /** The holder of the user has seen the state, so from now on only states that look the same are allowed. */
  #narrow(): void {
    const actual: Files = memoryIn(presentTree(this.#recording.disk));
    const found = this.#possible.map((each) => ({ each, wrong: differences(each, actual, this.#rule) }));
    const fitting = found.filter(({ wrong }) => wrong.length === 0).map(({ each }) => each);
    if (fitting.length === 0) {
      throw new Mismatch(found.map(({ each, wrong }) => `not "${each.name}": ${wrong.join("; ")}`).join("\n"));
    }
    if (this.#keepsDoubts)
      this.#doubts = [...this.#doubts, ...this.#possible.filter((each) => !fitting.includes(each))];
    this.#expect(fitting);
  }

  #expect(possible: readonly Expected[]): void {
    this.#possible = possible;
    this.timeline.push({ effects: this.#recording.effects.length, possible: [...possible, ...this.#doubts] });
  }

  get #store(): Store & StoreReaders {
    const { FileStore } = this.#host;
    // Always of the same length, so that records of the same length get the same places.
    const boot = `${this.#machine}.${this.#restarts}`;
    const note = (_user: UserId, text: string): void => void this.notes.push(text);
    const store = this.#stores.get(this.#process) ?? new FileStore(this.#recording, { durability: "full", note }, boot);
    this.#stores.set(this.#process, store);
    return store;
  }
}

/** The store has broken a promise. */
export class Mismatch extends Error {}

const isDiskFailure = (error: unknown): boolean =>
  error instanceof Error && "code" in error && /^STORAGE_|^EIO$/.test(String(error.code));
