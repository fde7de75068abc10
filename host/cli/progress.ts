/** Shows a command's progress on a terminal. The only file that imports ora. */
import type { Ora } from "ora";

/** Shorter work shows no progress: it ends before anyone could read it. */
const delayMs = 300;

export interface Progress {
  /** Shows how far the work is. `state` must contain only the host's own words. */
  show(state: string): void;
  /** Clears the progress line, then prints on standard output. */
  print(text: string): void;
  /** The same on standard error. */
  warn(text: string): void;
}

/**
 * Does some work. If standard error is a terminal and the work takes a while, shows a progress line there and removes
 * it at the end. `isQuiet` is for commands whose output is read by programs.
 */
export async function withProgress<Result>(
  command: string,
  work: (progress: Progress) => Promise<Result>,
  isQuiet = false,
): Promise<Result> {
  const line = isQuiet || !isWatched() ? null : progressLine(command);
  const writeTo = (stream: NodeJS.WriteStream) => (text: string) => {
    line?.clear();
    stream.write(text);
  };
  try {
    return await work({
      show: (state) => line?.show(state),
      print: writeTo(process.stdout),
      warn: writeTo(process.stderr),
    });
  } finally {
    await line?.end();
  }
}

/** Nobody looks at a terminal without columns, and ora would never finish clearing its lines. */
function isWatched(): boolean {
  const { isTTY, columns } = process.stderr;
  return isTTY && columns > 0 && process.env["CI"] === undefined && process.env["TERM"] !== "dumb";
}

function progressLine(command: string) {
  let text = command;
  let spinner: Ora | null = null;
  let isOver = false;
  let starting: Promise<void> | null = null;
  /** Stops the line for good when the window shrinks to nothing or the terminal is gone. */
  const onResize = (): void => {
    if (!isWatched()) spinner?.stop();
  };
  const start = async (): Promise<void> => {
    const { default: ora } = await import("ora");
    if (isOver || !isWatched()) return;
    process.stderr.on("resize", onResize);
    // Keys pressed meanwhile still reach the shell, and a killed command leaves the cursor visible.
    const options = { stream: process.stderr, color: false, discardStdin: false, hideCursor: false } as const;
    spinner = ora({ ...options, isEnabled: true, text }).start();
  };
  // A spinner that fails to start must not stop the work.
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
