/** Runs the official inspector as a command, for one method of a server, and returns its output. */
import { execFile } from "node:child_process";

import type { PreparedClients } from "./prepare-clients.ts";

export interface Inspected {
  readonly code: number | null;
  /** The server's answer. */
  readonly result?: unknown;
  /** The failure, as the inspector reports it. */
  readonly error?: { readonly code: string; readonly message: string };
}

/** `home` is the folder for the inspector's own data. */
export async function inspect(
  { node, inspector }: PreparedClients,
  args: readonly string[],
  home: string,
): Promise<Inspected> {
  const options = { env: { PATH: process.env["PATH"], HOME: home }, encoding: "utf8" } as const;
  const shown = ["--cli", "--quiet", "--format", "json", ...args];
  return new Promise((resolve) => {
    const child = execFile(node, [inspector, ...shown], options, (_error, stdout, stderr) => {
      const printed = [stdout, stderr].filter((text) => text.startsWith("{")).map((text) => JSON.parse(text) as object);
      resolve({ code: child.exitCode, ...(Object.assign({}, ...printed) as object) });
    });
  });
}
