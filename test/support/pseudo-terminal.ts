/** Runs a process on a real terminal, which Python opens and reads. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { stripVTControlCharacters } from "node:util";

const relay = `
import fcntl, os, pty, signal, struct, subprocess, sys, termios
main, side = pty.openpty()
def resize(columns):
    fcntl.ioctl(main, termios.TIOCSWINSZ, struct.pack("HHHH", 24, int(columns), 0, 0))
resize(sys.argv[1])
later = sys.argv[2]
out = side if "out" in sys.argv[3] else None
given = side if "in" in sys.argv[3] else subprocess.DEVNULL
child = subprocess.Popen(sys.argv[4:], stdin=given, stdout=out, stderr=side)
os.close(side)
while True:
    try:
        said = os.read(main, 65536)
    except OSError:
        break
    if not said:
        break
    if later:
        resize(later)
        child.send_signal(signal.SIGWINCH)
        later = ""
    os.write(2, said)
sys.exit(child.wait())
`;

/** Returns why there is no terminal here, or `null`. */
export function whyNoTerminal(): string | null {
  const { status } = spawnSync("python3", ["-c", "import pty; pty.openpty()"], { stdio: "ignore" });
  return status === 0 ? null : "there is no Python 3 that opens a terminal";
}

export interface TerminalRun {
  readonly status: number | null;
  readonly stdout: string;
  /** The terminal's output, including control sequences. */
  readonly terminal: string;
}

interface TerminalShape {
  readonly environment: NodeJS.ProcessEnv;
  readonly columns?: number;
  readonly columnsLater?: number;
  /** Whether standard output is the terminal too. Default: only standard error is. */
  readonly hasOutput?: boolean;
  /** Whether standard input is the terminal, at which nobody types. Default: it is empty. */
  readonly hasInput?: boolean;
  /** The working directory. Default: that of the tests. */
  readonly folder?: string;
}

/**
 * `onOutput` gets the terminal's whole output so far, each time there is more. After the first output, the terminal
 * gets `columnsLater` columns.
 */
export async function runOnTerminal(
  command: readonly string[],
  { environment, columns = 80, columnsLater, hasOutput = false, hasInput = false, folder }: TerminalShape,
  onOutput: (terminal: string) => void = () => {},
): Promise<TerminalRun> {
  const child = spawn(
    "python3",
    [
      "-c",
      relay,
      `${columns}`,
      `${columnsLater ?? ""}`,
      (hasOutput ? "out " : "") + (hasInput ? "in" : ""),
      ...command,
    ],
    {
      env: environment,
      cwd: folder,
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  let [stdout, terminal] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => onOutput((terminal += text)));
  const [status] = (await once(child, "close")) as [number | null];
  return { status, stdout, terminal };
}

/** Where a progress line begins again. */
const lineStart = "\u001b[1G";

/** What somebody sees in the end: lines without colours, and without the progress that was shown and removed. */
export function linesSeen(terminal: string): string[] {
  const lines = terminal
    .split(/\r*\n/)
    .map((line) => stripVTControlCharacters(line.slice(Math.max(0, line.lastIndexOf(lineStart)))));
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}
