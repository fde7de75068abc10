/** Shows a command's progress on a terminal. The only file that imports ora. */
import type { Ora } from "ora";

import type { Output, Terminal } from "./terminal.ts";

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
  { stdout, stderr, env }: Terminal,
  command: string,
  work: (progress: Progress) => Promise<Result>,
  isQuiet = false,
): Promise<Result> {
  const line = isQuiet || !isWatched(stderr, env) ? null : progressLine(command, stderr, env);
  const writeTo = (stream: Output) => (text: string) => {
    line?.clear();
    stream.write(text);
  };
  try {
    return await work({
      show: (state) => line?.show(state),
      print: writeTo(stdout),
      warn: writeTo(stderr),
    });
  } finally {
    await line?.end();
  }
}

/** Nobody looks at a terminal without columns, and ora would never finish clearing its lines. */
function isWatched({ isTTY = false, columns = 0 }: Output, env: NodeJS.ProcessEnv): boolean {
  return isTTY && columns > 0 && env["CI"] === undefined && env["TERM"] !== "dumb";
}

function progressLine(command: string, stderr: Output, env: NodeJS.ProcessEnv) {
  let text = command;
  let spinner: Ora | null = null;
  let isOver = false;
  let starting: Promise<void> | null = null;
  /** Stops the line for good when the window shrinks to nothing or the terminal is gone. */
  const onResize = (): void => {
    if (!isWatched(stderr, env)) spinner?.stop();
  };
  const start = async (): Promise<void> => {
    const { default: ora } = await import("ora");
    if (isOver || !isWatched(stderr, env)) return;
    stderr.on("resize", onResize);
    // Keys pressed meanwhile still reach the shell, and a killed command leaves the cursor visible.
    const options = { stream: stderr, color: false, discardStdin: false, hideCursor: false } as const;
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
      stderr.off("resize", onResize);
    },
  };
}
