/** A trail that is closed at any moment holds every answered use, and each of them complete. */
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";

import { expect, test } from "vitest";

import { readTrail } from "../../host/audit/collect/read-trail.ts";
import { closeTrail, newTrail, words } from "../../host/audit/collect/trail-memory.ts";
import { seededRandom } from "../support/seeded-random.ts";

const writer = fileURLToPath(new URL("dist/test/audit/trail-writer.js", import.meta.resolve("memcell/package.json")));
const seed = Number(process.env["TEST_SEED"] ?? Date.now() % 1e6);
const random = seededRandom(seed);

test(`300 trails closed while they are written, seed ${seed}`, async () => {
  const worker = new Worker(writer);
  let amid = 0;
  for (let round = 0; round < 300; round++) {
    const trail = newTrail();
    const answer = once(worker, "message") as Promise<[number]>;
    // oxlint-disable-next-line require-post-message-target-origin -- a thread has no origin
    worker.postMessage(trail.memory);
    const { words: view } = trail;
    while (Atomics.load(view, words.usesEnd) === 0);
    for (let turn = Math.floor(random() * 20_000); turn > 0; turn--) Atomics.load(view, words.usesEnd);
    closeTrail(trail);
    const { reads, looksNotShown } = readTrail(trail);
    // oxlint-disable-next-line no-await-in-loop -- one trail after another
    const [answered] = await answer;
    expect(reads.length + looksNotShown).toBeGreaterThanOrEqual(answered);
    expect(reads).toEqual(reads.map((_, at) => ({ scope: "memory", path: `${at}.md`, bytes: at })));
    if (reads.length < 2_500) amid++;
  }
  await worker.terminate();
  // Makes sure that trails were closed while being written, not after they were full.
  expect(amid).toBeGreaterThan(20);
});
