/** Runs a system program. Its standard error becomes the message of a failure. */
import { execFile } from "node:child_process";
import { delimiter } from "node:path";
import { promisify } from "node:util";

/** Some accounts do not search the folders of `mkfs.ext4` and `losetup`. */
export const programFolders: readonly string[] = [
  ...(process.env["PATH"] ?? "").split(delimiter),
  "/usr/sbin",
  "/sbin",
].filter((folder) => folder !== "");

/** Returns the program's standard output. Throws a `CommandFailure` if it cannot start or exits with an error. */
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
  /** The program's output. */
  readonly output: string;

  constructor(command: string, output: string, options: ErrorOptions) {
    super(`${command}: ${output}`, options);
    this.output = output;
  }
}
