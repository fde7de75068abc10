/** The thread that compares two texts. The only file that imports `diff`. */
import { parentPort, workerData } from "node:worker_threads";

import { structuredPatch } from "diff";

import type { DiffAnswer, DiffQuestion } from "./unified-diff.ts";

/** Lines around each change. */
const context = 3;

/** Longer computations give up: the texts then differ too much for a line of one to say anything about the other. */
const timeout = 500;

const { before, after } = workerData as DiffQuestion;
const patch = structuredPatch("", "", before, after, "", "", { context, timeout });
const lines = patch?.hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines: ofHunk }) =>
  [`@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`].concat(ofHunk),
);
const answer: DiffAnswer = lines?.join("\n") ?? null;
parentPort?.postMessage(answer, []);
