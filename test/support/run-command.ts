/** Runs a system program. What it printed on standard error becomes the message of the failure. */
import { execFile } from "node:child_process";
import { delimiter } from "node:path";
import { promisify } from "node:util";

/** Some accounts do not search the folders that hold `mkfs.ext4` and `losetup`. */
export const programFolders: readonly string[] = [
  ...(process.env["PATH"] ?? "").split(delimiter),
  "/usr/sbin",
  "/sbin",
].filter((folder) => folder !== "");

/** What a program printed on standard output. Throws a `CommandFailure` when it cannot start or ends with an error. */
export async function runCommand(
  program: string,
  args: readonly string[],
  environment: Record<string, string> = {},
): Promise<string> {
  try {
    const env = { ...process.env, PATH: programFolders.join(delimiter), LC_ALL: "C", ...environment };
    const { stdout } = await promisify(execFile)(program, [...args], { env });
    return stdout;
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string };
    throw new CommandFailure(`${program} ${args.join(" ")}`, stderr?.trim() || message, { cause: error });
  }
}

export class CommandFailure extends Error {
  override readonly name = "CommandFailure";
  /** What the program said. */
  readonly output: string;

  constructor(command: string, output: string, options: ErrorOptions) {
    super(`${command}: ${output}`, options);
    this.output = output;
  }
}
