import { auditLimits } from "../../../shared/limits.ts";
import type { LogFinding, LogVerification } from "./log-verification.ts";

/** Findings in the order in which they were made. What a later line explains better can be changed or taken back. */
export class FindingList {
  readonly #shown: LogFinding[] = [];
  readonly #notes: string[] = [];
  #hidden = 0;
  #notesHidden = 0;

  add(finding: LogFinding): LogFinding {
    if (this.#shown.length < auditLimits.findingsMax) this.#shown.push(finding);
    else this.#hidden++;
    return finding;
  }

  /** Puts another finding in the place of one; `null` takes it back. Returns what is there now. */
  replace(finding: LogFinding, by: LogFinding | null): LogFinding | null {
    const at = this.#shown.indexOf(finding);
    if (at >= 0) this.#shown.splice(at, 1, ...(by ? [by] : []));
    else if (by === null) this.#hidden--;
    return by;
  }

  note(text: string): void {
    if (this.#notes.length < auditLimits.notesMax) this.#notes.push(text);
    else this.#notesHidden++;
  }

  result(): Pick<LogVerification, "isIntact" | "findings" | "findingsNotShown" | "notes"> {
    const more = this.#notesHidden > 0 ? [`${this.#notesHidden} more notes are not shown`] : [];
    return {
      isIntact: this.#shown.length === 0 && this.#hidden === 0,
      findings: this.#shown,
      findingsNotShown: this.#hidden,
      notes: [...this.#notes, ...more],
    };
  }
}
