/** The difference of two texts as lines of a unified diff. `RATIONALE.md`, "Why are texts compared in a thread?" */
import { once } from "node:events";
import { Worker } from "node:worker_threads";

import { packageFile } from "../values/package-file.ts";
import { inTurns } from "../values/turns.ts";
import type { Pieces } from "../values/turns.ts";

export interface DiffQuestion {
  readonly before: string;
  readonly after: string;
}

/** The lines with line feeds between them; `null` if the texts differ too much. One text is copied fast. */
export type DiffAnswer = string | null;

/** The thread gives up long before. One that has been stopped in some way never answers. */
const deadlineMs = 10_000;

/** Resolves when the texts so far have been compared: there is one thread at a time. */
let turn: Promise<unknown> = Promise.resolve();

/**
 * The hunks, each with its `@@` line. A line begins with a space, `-` or `+`, and with `\` after a last line without a
 * line feed. Empty for equal texts; `null` if the texts differ too much.
 */
export async function unifiedDiff(before: string, after: string): Promise<string[] | null> {
  if (before === after) return [];
  const answer = turn.then(() => ask({ before, after }));
  turn = answer.catch(() => {});
  const text = await answer;
  return text === null ? null : await inTurns(linesIn(text));
}

async function ask(question: DiffQuestion): Promise<DiffAnswer> {
  const thread = new Worker(packageFile("dist/host/owner/diff-thread.js"), { workerData: question });
  const deadline = AbortSignal.timeout(deadlineMs);
  try {
    const [answer] = (await once(thread, "message", { signal: deadline })) as [DiffAnswer];
    return answer;
  } catch (error) {
    if (deadline.aborted) return null;
    throw error;
  } finally {
    await thread.terminate();
  }
}

const charsAtOnce = 64 * 1_024;

function* linesIn(text: string): Pieces<string[]> {
  const lines: string[] = [];
  for (let at = 0; at < text.length;) {
    const end = text.indexOf("\n", at + charsAtOnce);
    for (const line of text.slice(at, end < 0 ? text.length : end).split("\n")) lines.push(line);
    at = end < 0 ? text.length : end + 1;
    yield;
  }
  return lines;
}
