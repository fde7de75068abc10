import type { Readable, Writable } from "node:stream";

/** What a command reads and writes besides files: `process`, or the streams and variables of a program. */
export interface Terminal {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: NodeJS.ProcessEnv;
}

/** A stream with `columns` if it is a terminal. */
export interface Output extends Writable {
  readonly isTTY?: boolean;
  readonly columns?: number;
}
