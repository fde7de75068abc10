/** Runs a script of operations, edits and failures on a recorded data folder, and notes the allowed states. */
import type { ChangeSet, Seen } from "../../stage/store.ts";
import { codeOf, statesOf } from "../homes/gate.ts";
import type { ChangeOperation, GateOperation, Step } from "../homes/step.ts";
import type { Subject } from "../homes/subject.ts";
import { settings } from "../homes/switched-runtime.ts";
import type { Files } from "../homes/tree.ts";
import type { Host, StoreUnderTest } from "../store-under-test.ts";
import { presentTree } from "./crash-states.ts";
import { afterChanges, afterEdit, differences, nothingExpected } from "./expected-memory.ts";
import type { EditRule, Expected } from "./expected-memory.ts";
import type { Recording } from "./recording.ts";

/** The states that a crash may leave behind from an effect on. */
interface Moment {
  readonly effects: number;
  readonly possible: readonly Expected[];
}

export interface PlaySetup {
  /** Where the recorded folder is. */
  readonly path: string;
  readonly host: Host;
  readonly subject: Subject;
  readonly recording: Recording;
  readonly boot: string;
  readonly rule: EditRule;
  /** A flush failed and its process was killed: a refused change may be there or not, until another change follows. */
  readonly keepsDoubts: boolean;
}

const noEdits: Expected["edits"] = new Map();

/** Enough time for any call: one that waits longer has hung. */
const until = (): number => performance.now() + 20_000;

export class Play {
  readonly timeline: Moment[] = [];
  readonly notes: string[] = [];
  readonly #setup: PlaySetup;
  readonly #stores = new Map<number, StoreUnderTest>();
  #restarts = 0;
  #process = 1;
  #possible: readonly Expected[];
  /** States that are not visible now but may appear after a crash, until the next change is acknowledged. */
  #doubts: readonly Expected[] = [];
  #number: number;

  constructor(setup: PlaySetup, possible: readonly Expected[]) {
    this.#setup = setup;
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
    if (step.do === "edit") return this.#edit(step.path, step.text, step.isOld);
    if (step.do === "change process") this.#process = step.to;
    else if (step.do === "look") await this.#look();
    else if (step.do === "look at one") await this.#lookAtOne(step);
    else if (step.do === "erase") await this.#erase();
    else if (step.do === "close") await this.#close();
    else if (step.do === "restart") this.#restart();
    else if (step.do === "fail flush") this.#setup.recording.failFlush(step.name, step.after ?? 0);
    else if (step.do === "fill") this.#setup.recording.isFull = true;
    else if (step.do === "edit meanwhile") await this.#call(step.call, step);
    else if (step.do === "gate") await this.#perform(step);
    else await this.#call(step);
  }

  async #call(operation: ChangeOperation, meanwhile?: Extract<Step, { do: "edit meanwhile" }>): Promise<void> {
    let edit = meanwhile;
    let before: readonly Expected[] | null = null;
    let wanted: readonly Expected[] = [];
    let made = 0;
    const { failures } = this.#setup.recording;
    this.#number++;
    const work = async (commit: (changes: ChangeSet, seen: readonly Seen[]) => Promise<void>): Promise<void> => {
      this.#narrow();
      using reader = this.#setup.subject.openReader(this.#store);
      const changes = this.#setup.subject.changesFor(reader, operation, this.#number);
      const seen = reader.seen;
      const edited = edit?.path;
      if (edit) this.#edit(edit.path, edit.text);
      edit = undefined;
      const named = {
        name: `${operation.do} (${this.#number})`,
        keyOf: (place: { scope: string; path: string }) => this.#setup.subject.keyOf(place),
      };
      for (const part of this.#setup.subject.partsOf?.(changes) ?? [changes]) {
        const base = this.#possible;
        const after = base.map((each) => afterChanges(each, part, named));
        // A change of a file that was edited since its read is never made.
        before = part.some((change) => named.keyOf(change) === edited) ? null : base;
        wanted = after;
        if (before) this.#expect([...base, ...after]);
        await commit(part, seen);
        this.#doubts = [];
        this.#expect(after);
        made++;
      }
    };
    await this.#setup.subject.hold(this.#store, { writes: true, until: until() }, work).catch((error: unknown) => {
      // Work of which a part is durable is not repeated, although a person has edited what its next part is based on.
      const isHalfMade = made > 0 && codeOf(error) === "BUSY";
      if (error instanceof Mismatch || !(isDiskFailure(error) || isHalfMade)) throw error;
      // If its frame's flush has failed and no segment could be begun durably, the frame can still be on the disk.
      if (this.#setup.recording.failures > failures + 1) this.#doubts = wanted;
      // The change was refused, so it must not be there.
      if (before) this.#expect(before);
    });
  }

  async #perform(operation: GateOperation): Promise<void> {
    await this.#look();
    const bases = this.#possible;
    const disk = { tree: presentTree(this.#setup.recording.disk), boot: this.#boot };
    const states = await statesOf(this.#setup.host, disk, operation);
    const name = `${operation.act} (${++this.#number})`;
    const during = states.during.map((files) => ({ name: `half of ${name}`, files, edits: noEdits }));
    const after = { name, files: states.after, edits: noEdits };
    this.#expect([...bases, ...during, after]);
    try {
      await this.#setup.subject.perform?.(
        { host: this.#setup.host, store: this.#store, path: this.#setup.path },
        operation,
      );
    } catch (error) {
      // Then it is there or not, as after a kill.
      if (isDiskFailure(error)) return;
      throw error;
    }
    this.#expect([after]);
  }

  async #lookAtOne({ home, writes }: Extract<Step, { do: "look at one" }>): Promise<void> {
    await this.#setup.subject.lookAtOne?.(this.#store, home, { writes, until: until() });
  }

  async #look(): Promise<void> {
    await this.#setup.subject.hold(this.#store, { writes: false, until: until() }, () => {
      this.#narrow();
      return Promise.resolve();
    });
  }

  #edit(path: string, text: string | null, isOld = false): void {
    const place = this.#setup.subject.placeOf(path);
    const after = this.#possible.map((each) => afterEdit(each, path, text));
    this.#doubts = this.#doubts.map((each) => afterEdit(each, path, text));
    this.#expect([...this.#possible, ...after]);
    this.#setup.recording.saveByHand(place, text, isOld);
    this.#expect(after);
  }

  async #erase(): Promise<void> {
    const erased = { ...nothingExpected, name: `erased (${++this.#number})` };
    this.#expect([...this.#possible, erased]);
    await this.#setup.subject.erase?.(this.#store, until());
    this.#expect([erased]);
  }

  async #close(): Promise<void> {
    await this.#store.close();
    this.#stores.delete(this.#process);
  }

  #restart(): void {
    this.#setup.recording.settle();
    this.#stores.clear();
    this.#restarts++;
  }

  /** The holder of the user has seen the state, so from now on only states that look the same are allowed. */
  #narrow(): void {
    const actual: Files = this.#setup.subject.filesIn(presentTree(this.#setup.recording.disk));
    const found = this.#possible.map((each) => ({ each, wrong: differences(each, actual, this.#setup.rule) }));
    const fitting = found.filter(({ wrong }) => wrong.length === 0).map(({ each }) => each);
    if (fitting.length === 0) {
      throw new Mismatch(found.map(({ each, wrong }) => `not "${each.name}": ${wrong.join("; ")}`).join("\n"));
    }
    if (this.#setup.keepsDoubts)
      this.#doubts = [...this.#doubts, ...this.#possible.filter((each) => !fitting.includes(each))];
    this.#expect(fitting);
  }

  #expect(possible: readonly Expected[]): void {
    this.#possible = possible;
    this.timeline.push({ effects: this.#setup.recording.effects.length, possible: [...possible, ...this.#doubts] });
  }

  /** Always of the same length, so that records of the same length get the same places. */
  get #boot(): string {
    return `${this.#setup.boot}.${this.#restarts}`;
  }

  get #store(): StoreUnderTest {
    const { openFiles } = this.#setup.host;
    const note = (_owner: string, text: string): void => void this.notes.push(text);
    const store =
      this.#stores.get(this.#process) ??
      openFiles(this.#setup.recording, { durability: "full", note, settings }, this.#boot);
    this.#stores.set(this.#process, store);
    return store;
  }
}

/** The store has broken a promise. */
export class Mismatch extends Error {}

const isDiskFailure = (error: unknown): boolean => /^STORAGE_|^EIO$/.test(codeOf(error));
