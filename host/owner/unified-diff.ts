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

export interface DiffAnswer {
  /** The lines with line feeds between them; `null` if the texts differ too much. One text is copied fast. */
  readonly text: string | null;
}

/** How long a thread that compares nothing is kept. */
const idleMs = 10_000;

/** The thread gives up long before. One that has been stopped in some way never answers. */
const deadlineMs = 10_000;

let thread: Worker | null = null;
/** Resolves when the texts so far have been compared: the thread compares one pair at a time. */
let turn: Promise<unknown> = Promise.resolve();
let idle: NodeJS.Timeout | undefined;

/**
 * The hunks, each with its `@@` line. A line begins with a space, `-` or `+`, and with `\` after a last line without a
 * line feed. Empty for equal texts; `null` if the texts differ too much.
 */
export async function unifiedDiff(before: string, after: string): Promise<string[] | null> {
  if (before === after) return [];
  const answer = turn.then(() => ask({ before, after }));
  turn = answer.catch(() => {});
  const { text } = await answer;
  return text === null ? null : await inTurns(linesIn(text));
}

async function ask(question: DiffQuestion): Promise<DiffAnswer> {
  clearTimeout(idle);
  const asked = (thread ??= startThread());
  const deadline = AbortSignal.timeout(deadlineMs);
  asked.ref();
  try {
    asked.postMessage(question, []);
    const [answer] = (await once(asked, "message", { signal: deadline })) as [DiffAnswer];
    idle = setTimeout(endThread, idleMs).unref();
    return answer;
  } catch (error) {
    endThread();
    if (deadline.aborted) return { text: null };
    throw error;
  } finally {
    asked.unref();
  }
}

function startThread(): Worker {
  const started = new Worker(packageFile("dist/host/owner/diff-thread.js"));
  // A thread that fails between two texts would otherwise end the process.
  started.on("error", () => {});
  return started;
}

function endThread(): void {
  void thread?.terminate();
  thread = null;
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
