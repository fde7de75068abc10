/** Runs a process whose standard error is a real terminal, which Python opens and reads. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";

const relay = `
import fcntl, os, pty, signal, struct, subprocess, sys, termios
main, side = pty.openpty()
def resize(columns):
    fcntl.ioctl(main, termios.TIOCSWINSZ, struct.pack("HHHH", 24, int(columns), 0, 0))
resize(sys.argv[1])
later = sys.argv[2]
child = subprocess.Popen(sys.argv[3:], stdin=subprocess.DEVNULL, stderr=side)
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
}

/**
 * `onOutput` gets the terminal's whole output so far, each time there is more. After the first output, the terminal
 * gets `columnsLater` columns.
 */
export async function runOnTerminal(
  command: readonly string[],
  { environment, columns = 80, columnsLater }: TerminalShape,
  onOutput: (terminal: string) => void = () => {},
): Promise<TerminalRun> {
  const child = spawn("python3", ["-c", relay, `${columns}`, `${columnsLater ?? ""}`, ...command], {
    env: environment,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [stdout, terminal] = ["", ""];
  child.stdout.on("data", (bytes: Buffer) => (stdout += bytes.toString()));
  child.stderr.on("data", (bytes: Buffer) => onOutput((terminal += bytes.toString())));
  const [status] = (await once(child, "close")) as [number | null];
  return { status, stdout, terminal };
}
