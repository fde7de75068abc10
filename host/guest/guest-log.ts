import { callLimits } from "../../shared/limits.ts";

export interface LogLine {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly text: string;
}

/** What a guest logs during one call: so many lines of so many characters, and what is beyond is counted. */
export class GuestLog {
  readonly #lines: LogLine[] = [];
  #dropped = 0;

  get lines(): readonly LogLine[] {
    if (this.#dropped === 0) return this.#lines;
    return [...this.#lines, { level: "warn", text: `${this.#dropped} further lines not shown` }];
  }

  add(level: LogLine["level"], text: string): void {
    if (this.#lines.length >= callLimits.logLinesMax) this.#dropped++;
    else this.#lines.push({ level, text: text.slice(0, callLimits.logLineCharsMax) });
  }
}

/** The part of a console that the Extism SDK writes to. */
export function consoleOf(add: (level: LogLine["level"], text: string) => void): Console {
  const write =
    (level: LogLine["level"]) =>
    (text: unknown): void =>
      add(level, String(text));
  const sink = { debug: write("debug"), info: write("info"), log: write("info"), warn: write("warn") };
  return { ...sink, trace: write("debug"), error: write("error") } as unknown as Console;
}
