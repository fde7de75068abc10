/** The command in this process: real code and real files, without a new process for each call. */
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";

import type * as RunCommandModule from "../../host/cli/run-command.ts";

const { runCommand } = (await import(
  new URL("host/cli/run-command.js", new URL("dist/", import.meta.resolve("memcell/package.json"))).href
)) as typeof RunCommandModule;

export interface CommandOptions {
  /** Standard input. Default: empty. */
  readonly stdin?: string | Uint8Array;
  /** Default: the environment of the tests. */
  readonly env?: NodeJS.ProcessEnv;
  /** The working directory. Default: that of the tests. */
  readonly cwd?: string;
}

export interface Ran {
  /** The exit code. */
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** One command at a time: the working directory is the process's. */
let turn: Promise<unknown> = Promise.resolve();

/**
 * Runs `memcell` with these arguments.
 *
 * @example
 * const { status, stdout } = await memcell(["index", "--user", "alice"], { cwd: folder.path });
 */
export async function memcell(args: readonly string[], options: CommandOptions = {}): Promise<Ran> {
  const ran = turn.then(() => run(args, options));
  turn = ran.catch(() => {});
  return await ran;
}

async function run(args: readonly string[], { stdin = "", env = process.env, cwd }: CommandOptions): Promise<Ran> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const outputs = [text(stdout), text(stderr)] as const;
  const before = process.cwd();
  if (cwd !== undefined) process.chdir(cwd);
  try {
    const status = await runCommand(args, { stdin: Readable.from([Buffer.from(stdin)]), stdout, stderr, env });
    stdout.end();
    stderr.end();
    const [out, err] = await Promise.all(outputs);
    return { status, stdout: out, stderr: err };
  } finally {
    if (cwd !== undefined) process.chdir(before);
  }
}

export { runCommand };
