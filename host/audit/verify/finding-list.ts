import { auditLimits } from "../../../shared/limits.ts";
import type { LogFinding, LogVerification } from "./log-verification.ts";

const { findingsMax, notesMax } = auditLimits;

/** Findings and notes in the order of the log: the first of each are kept, the others counted. */
export class FindingList {
  #kept = new Map<number, LogFinding>();
  #numbers = 0;
  #notKept = 0;
  readonly #notes: string[] = [];
  #notesNotKept = 0;

  /** A number for what may be found at this point of the log when more of it was read. */
  reserve(): number {
    return this.#numbers++;
  }

  /** Returns the finding's number, for `replace`. */
  add(finding: LogFinding, number: number = this.reserve()): number {
    this.#kept.set(number, finding);
    if (this.#kept.size > 2 * findingsMax) this.#keepFirst();
    return number;
  }

  /** A later line explains it better; `null`: there was nothing to find. */
  replace(number: number, by: LogFinding | null): void {
    if (by === null && !this.#kept.delete(number)) this.#notKept--;
    if (by !== null && this.#kept.has(number)) this.#kept.set(number, by);
  }

  note(text: string): void {
    if (this.#notes.length < notesMax) this.#notes.push(text);
    else this.#notesNotKept++;
  }

  result(): Pick<LogVerification, "isIntact" | "findings" | "findingsNotShown" | "notes"> {
    this.#keepFirst();
    const more = this.#notesNotKept > 0 ? [`${this.#notesNotKept} more notes are not shown`] : [];
    return {
      isIntact: this.#kept.size === 0 && this.#notKept === 0,
      findings: [...this.#kept.values()],
      findingsNotShown: this.#notKept,
      notes: [...this.#notes, ...more],
    };
  }

  #keepFirst(): void {
    const inOrder = [...this.#kept].toSorted(([a], [b]) => a - b);
    this.#kept = new Map(inOrder.slice(0, findingsMax));
    this.#notKept += inOrder.length - this.#kept.size;
  }
}
