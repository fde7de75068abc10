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

/** What to do with a text that a person has written. */
interface Writing {
  /** The text to begin with. */
  readonly before: string;
  /** What an empty text means: "nothing is saved". */
  readonly ifEmpty: string;
  /** Resolves to the exit code. */
  readonly save: (text: string) => Promise<number>;
}

/**
 * Reads standard input to its end, or opens the editor on a text if standard input is a terminal, and saves what was written.
 * Unless the exit code is 0, says where the text is, so that no failure loses it. Throws `UsageError` if the text is empty.
 */
export async function saveWritten(terminal: Terminal, { before, ifEmpty, save }: Writing): Promise<number> {
  const { text, file, drop } = await writtenText(terminal, before);
  if (text.trim() === "") {
    await drop();
    throw new UsageError(`the text is empty, so ${ifEmpty}`);
  }
  let code = 1;
  try {
    code = await save(text);
  } finally {
    if (code === 0) await drop();
    else if (file !== null) terminal.stderr.write(`Your text is in ${visibleText(file)}\n`);
  }
  return code;
}

/** A text that a person has written. */
interface WrittenText {
  readonly text: string;
  /** Where it is kept until `drop` is called; `null` if it came by standard input. */
  readonly file: string | null;
  readonly drop: () => Promise<void>;
}

/**
 * Throws `UsageError` if the editor cannot be started or fails, and if the text is no UTF-8 or too long; its message names the
 * file that has the text.
 */
async function writtenText({ stdin, env }: Terminal, before: string): Promise<WrittenText> {
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
