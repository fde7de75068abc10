import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";

/** Its sources, whether or not this file runs compiled. */
export const clone: string = fileURLToPath(new URL(".", import.meta.resolve("memcell/package.json")));

export interface Finished {
  readonly status: number;
  /** Standard output and standard error. */
  readonly said: string;
}

/** Runs a program to its end, also if it fails. */
export function finished(
  program: string,
  args: readonly string[],
  { cwd, env = {} }: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> },
): Promise<Finished> {
  const options = { cwd, env: { ...process.env, ...env }, timeout: 10 * 60_000, maxBuffer: 2 ** 26 };
  return new Promise((resolve) => {
    execFile(program, args, options, (error, stdout, stderr) => {
      const code = error === null ? 0 : Number(error.code ?? 1);
      resolve({ status: Number.isNaN(code) ? 1 : code, said: `${stdout}${stderr}` });
    });
  });
}
