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
  const line = isQuiet || !isWatched() ? null : progressLine(command);
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

function progressLine(command: string) {
  let text = command;
  let spinner: Ora | null = null;
  let isOver = false;
  let starting: Promise<void> | null = null;
  /** A window that is shut to nothing, or a terminal that is given away, stays without the line. */
  const onResize = (): void => {
    if (!isWatched()) spinner?.stop();
  };
  const start = async (): Promise<void> => {
    const { default: ora } = await import("ora");
    if (isOver || !isWatched()) return;
    process.stderr.on("resize", onResize);
    // Keys that are pressed meanwhile stay the shell's, and a killed command leaves a cursor.
    const options = { stream: process.stderr, color: false, discardStdin: false, hideCursor: false } as const;
    spinner = ora({ ...options, isEnabled: true, text }).start();
  };
  // A spinner that cannot be had ends no work.
  const timer = setTimeout(() => (starting = start().catch(() => {})), delayMs);
  return {
    show(state: string): void {
      text = `${command}: ${state}`;
      if (spinner) spinner.text = text;
    },
    clear: () => void spinner?.clear(),
    async end(): Promise<void> {
      isOver = true;
      clearTimeout(timer);
      await starting;
      spinner?.stop();
      process.stderr.off("resize", onResize);
    },
  };
}
