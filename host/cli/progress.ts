/** How far a command is, on a terminal. Sole importer of ora. */
import type { Ora } from "ora";

/** Work that takes no longer is over before anyone could read of it. */
const delayMs = 300;

export interface Progress {
  /** Says how far the work is, in words of the host's own. */
  show(state: string): void;
  /** Prints on standard output, where the line may be. */
  print(text: string): void;
}

/**
 * Does some work and shows on standard error how far it is: when that is a terminal, and the work takes a while. Nothing
 * is left of the line in the end. `isQuiet` is for commands whose output is read by programs.
 */
export async function withProgress<Result>(
  command: string,
  work: (progress: Progress) => Promise<Result>,
  isQuiet = false,
): Promise<Result> {
  const line = isQuiet || !isWatched() ? null : new ProgressLine(command);
  try {
    return await work({
      show: (state) => line?.show(state),
      print: (text) => {
        line?.clear();
        process.stdout.write(text);
      },
    });
  } finally {
    await line?.end();
  }
}

/** A terminal that has no columns is one that nobody looks at; ora would never be done clearing lines of it. */
function isWatched(): boolean {
  const { isTTY, columns } = process.stderr;
  return isTTY && columns > 0 && process.env["CI"] === undefined && process.env["TERM"] !== "dumb";
}

class ProgressLine {
  readonly #command: string;
  #state = "";
  #spinner: Ora | null = null;
  #isOver = false;
  #starting: Promise<void> | null = null;
  readonly #timer: NodeJS.Timeout;

  constructor(command: string) {
    this.#command = command;
    // A spinner that cannot be had ends no work.
    this.#timer = setTimeout(() => (this.#starting = this.#start().catch(() => {})), delayMs);
  }

  show(state: string): void {
    this.#state = state;
    if (this.#spinner) this.#spinner.text = this.#text;
  }

  clear(): void {
    this.#spinner?.clear();
  }

  async end(): Promise<void> {
    this.#isOver = true;
    clearTimeout(this.#timer);
    await this.#starting;
    this.#spinner?.stop();
    process.stderr.off("resize", this.#onResize);
  }

  /** A window that is shut to nothing, or a terminal that is given away, stays without the line. */
  readonly #onResize = (): void => {
    if (!isWatched()) this.#spinner?.stop();
  };

  get #text(): string {
    return this.#state === "" ? this.#command : `${this.#command}: ${this.#state}`;
  }

  async #start(): Promise<void> {
    const { default: ora } = await import("ora");
    if (this.#isOver || !isWatched()) return;
    process.stderr.on("resize", this.#onResize);
    // Keys that are pressed meanwhile stay the shell's, and a killed command leaves a cursor.
    const options = { stream: process.stderr, color: false, discardStdin: false, hideCursor: false } as const;
    this.#spinner = ora({ ...options, isEnabled: true, text: this.#text }).start();
  }
}
