import { callLimits } from "../../shared/limits.ts";
import type { LogLine } from "../log/log-entry.ts";

/** What a guest logs during one call: so many lines of so many characters, and what is beyond is counted. */
export class GuestLog {
  readonly #lines: LogLine[] = [];
  #dropped = 0;

  get lines(): readonly LogLine[] {
    if (this.#dropped === 0) return this.#lines;
    return [...this.#lines, { level: "warn", text: `${this.#dropped} further lines not shown` }];
  }

  /** `read` gives the text, and is not asked for that of a line which is only counted. */
  add(level: LogLine["level"], read: () => string): void {
    if (this.#lines.length >= callLimits.logLinesMax) this.#dropped++;
    else this.#lines.push({ level, text: read().slice(0, callLimits.logLineCharsMax) });
  }
}
