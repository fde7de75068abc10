/** Lets a person write a text: in the editor that the environment names, or by standard input. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";

import { storeLimits } from "../../shared/limits.ts";
import { UsageError } from "../config/usage-error.ts";
import { boundedBytes } from "../values/bounded-bytes.ts";
import type { Terminal } from "./terminal.ts";

/** A text that a person has written. */
export interface WrittenText {
  readonly text: string;
  /** Where it is kept until `drop` is called, so that no failure loses it; `null` if it came by standard input. */
  readonly file: string | null;
  drop(): Promise<void>;
}

/**
 * Reads standard input to its end, or opens the editor on a text if standard input is a terminal. Throws `UsageError` if the
 * editor cannot be started or fails, and if the text is no UTF-8 or too long.
 */
export async function writtenText({ stdin, env }: Terminal, before: string): Promise<WrittenText> {
  if (!stdin.isTTY) {
    const bytes = await boundedBytes(stdin as AsyncIterable<Buffer>, storeLimits.fileBytesMax);
    if (bytes === null) throw new UsageError(`standard input is over ${storeLimits.fileBytesMax} bytes`);
    return { text: utf8(bytes, "standard input"), file: null, drop: async () => {} };
  }
  // Only its owner can read what is in it.
  const folder = await mkdtemp(`${tmpdir()}/memcell-`);
  const file = `${folder}/entry.md`;
  await writeFile(file, before, { mode: 0o600 });
  await edit(file, env);
  return { text: utf8(await readFile(file), "the text"), file, drop: () => rm(folder, { recursive: true }) };
}

async function edit(file: string, env: NodeJS.ProcessEnv): Promise<void> {
  // As git does: the variable can have options in it, so a shell reads it. The file is an argument, not a part of the line.
  const editor = env["VISUAL"] ?? env["EDITOR"] ?? "vi";
  const child = spawn("/bin/sh", ["-c", `${editor} "$1"`, "sh", file], { stdio: "inherit", env });
  const [code] = (await once(child, "exit").catch(() => [null])) as [number | null];
  if (code !== 0) throw new UsageError(`the editor ${editor} has failed; the text is in ${file}`);
}

function utf8(bytes: Uint8Array, what: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new UsageError(`${what} is not UTF-8`, { cause: error });
  }
}
