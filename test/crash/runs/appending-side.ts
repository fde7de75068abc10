/** One of the two processes, again and again a new one, and the writers that append through it. */
import type { Answer } from "./append-workload.ts";
import { AppendingProcess } from "./appending-process.ts";
import { appendIdOf, batchOf } from "./batch.ts";
import type { Append } from "./batch.ts";

const writersOfSide = 4;
export const appendsOfWriter = 250;

/** Makes its appends one after the other, each until it is acknowledged. */
interface Writer {
  readonly id: string;
  /** The present append. Its number is one more than the last when all are acknowledged. */
  number: number;
  attempt: number;
}

export interface SideEvents {
  readonly acknowledged: (append: Append) => void;
  readonly failed: (error: Error) => void;
}

export class AppendingSide {
  /** By append id: the first attempt whose answer was lost. */
  readonly lost = new Map<string, number>();
  readonly #dataDir: string;
  readonly #events: SideEvents;
  readonly #writers: readonly Writer[];
  readonly #waiting = new Set<Writer>();
  #process: AppendingProcess | null = null;
  /** How many appends may still be asked for. */
  #allowed = Infinity;
  #isDying = false;
  #onLoss: (() => void) | null = null;

  constructor(dataDir: string, name: string, events: SideEvents) {
    this.#dataDir = dataDir;
    this.#events = events;
    this.#writers = Array.from({ length: writersOfSide }, (_, at) => {
      return { id: `${name}-writer-${at + 1}`, number: 1, attempt: 0 };
    });
  }

  get remaining(): number {
    return this.#writers.reduce((sum, { number }) => sum + appendsOfWriter + 1 - number, 0);
  }

  /** Starts a process. Each writer repeats the append that was not acknowledged. */
  async start(): Promise<void> {
    const { failed } = this.#events;
    const started = new AppendingProcess(this.#dataDir, { answered: (answer) => this.#take(answer), failed });
    this.#process = started;
    this.#isDying = false;
    this.#onLoss = null;
    await started.ready;
    for (const writer of this.#writers) this.#ask(writer);
  }

  /** Makes only this many further appends until `release`. */
  hold(allowed: number): void {
    this.#allowed = allowed;
  }

  release(): void {
    this.#allowed = Infinity;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const writer of waiting) this.#ask(writer);
  }

  /** Waits for an answer and loses it, as if the process had been killed between the commit and the answer. */
  async loseAnswer(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#onLoss = resolve;
    });
  }

  async kill(): Promise<void> {
    this.#isDying = true;
    await this.#process?.kill();
  }

  async end(): Promise<void> {
    await this.#process?.end();
  }

  #ask(writer: Writer): void {
    if (this.#isDying || writer.number > appendsOfWriter) return;
    if (this.#allowed === 0) {
      this.#waiting.add(writer);
      return;
    }
    this.#allowed--;
    writer.attempt++;
    this.#process?.ask({ writer: writer.id, number: writer.number, attempt: writer.attempt });
  }

  #take({ append, result }: Answer): void {
    const expected = batchOf(append).length;
    if (!result.ok || (result.data as { appended?: unknown }).appended !== expected) {
      this.#events.failed(new Error(`${appendIdOf(append)}: ${JSON.stringify(result)}, expected ${expected}`));
      return;
    }
    if (this.#onLoss !== null) {
      const id = appendIdOf(append);
      this.lost.set(id, this.lost.get(id) ?? append.attempt);
      this.#onLoss();
      return;
    }
    const writer = this.#writers.find(({ id }) => id === append.writer);
    if (writer === undefined) return;
    [writer.number, writer.attempt] = [writer.number + 1, 0];
    this.#events.acknowledged(append);
    this.#ask(writer);
  }
}
