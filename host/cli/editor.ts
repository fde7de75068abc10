/** Lets a person write a text: in the editor that the environment names, or by standard input. */
import { isUtf8 } from "node:buffer";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";

import { storeLimits } from "../../shared/limits.ts";
import { UsageError } from "../config/usage-error.ts";
import { boundedBytes } from "../values/bounded-bytes.ts";
import { visibleText } from "../values/visible-text.ts";
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
 * editor cannot be started or fails, and if the text is no UTF-8 or too long; its message names the file that has the text.
 */
export async function writtenText({ stdin, env }: Terminal, before: string): Promise<WrittenText> {
  if (!stdin.isTTY) {
    const bytes = await boundedBytes(stdin as AsyncIterable<Buffer>, storeLimits.fileBytesMax);
    if (bytes === null) throw new UsageError(`standard input is over ${storeLimits.fileBytesMax} bytes`);
    if (!isUtf8(bytes)) throw new UsageError("standard input is not UTF-8");
    return { text: bytes.toString("utf8"), file: null, drop: async () => {} };
  }
  let file = tmpdir();
  try {
    // Only its owner can read what is in it.
    const folder = await mkdtemp(`${tmpdir()}/memcell-`);
    file = `${folder}/entry.md`;
    await writeFile(file, before, { mode: 0o600 });
    await edit(file, env);
    const bytes = await readFile(file);
    if (!isUtf8(bytes)) throw new UsageError(`the text is not UTF-8; it is in ${file}`);
    return { text: bytes.toString("utf8"), file, drop: () => rm(folder, { recursive: true, force: true }) };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const { code = "unknown" } = error as NodeJS.ErrnoException;
    throw new UsageError(`the file ${file} for the editor cannot be used (${code})`, { cause: error });
  }
}

/** Does something with a text, and then drops it. If that fails, the message says where the text is. */
export async function keepingText<Result>(
  { stderr }: Terminal,
  { file, drop }: WrittenText,
  work: () => Promise<Result>,
): Promise<Result> {
  let result: Result;
  try {
    result = await work();
  } catch (error) {
    if (file !== null) stderr.write(`Your text is in ${visibleText(file)}\n`);
    throw error;
  }
  await drop();
  return result;
}

const ignore = (): void => {};

/** Until the editor ends, an interrupt is for the editor: it can go on, and save later. */
async function edit(file: string, env: NodeJS.ProcessEnv): Promise<void> {
  // As git does: the variable can have options in it, so a shell reads it. The file is an argument, not a part of the line.
  const editor = env["VISUAL"] || env["EDITOR"] || "vi";
  process.on("SIGINT", ignore);
  try {
    const child = spawn("/bin/sh", ["-c", `${editor} "$1"`, "sh", file], { stdio: "inherit", env });
    const [code] = (await once(child, "exit").catch(() => [null])) as [number | null];
    if (code !== 0) throw new UsageError(`the editor ${editor} has failed; the text is in ${file}`);
  } finally {
    process.off("SIGINT", ignore);
  }
}
