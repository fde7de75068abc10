/** A call's trail in shared memory: closed at any moment, it has every answered use, whole, and nothing after that. */
import { once } from "node:events";
import { Worker } from "node:worker_threads";

import { expect, test } from "vitest";

import { isLong, seed } from "../stage/seed.ts";
import { checkUserId, sizeOfFiles, UserReader } from "../stage/store.ts";
import { fullGrant } from "../support/full-grant.ts";
import { seededRandom } from "../support/seeded-random.ts";
import {
  CapabilityTrail,
  StagedChanges,
  bindCapabilities,
  closeTrail,
  newTrail,
  readTrail,
  words,
} from "./shared-trail.ts";

test("a closed trail records no use and none is answered, also when it is closed during the use", () => {
  const memory = newTrail();
  const files = { list: () => [], sizeOf: () => null, scopeSize: () => sizeOfFiles([]), [Symbol.dispose]: () => {} };
  const store = new UserReader({ ...files, bytesOf: () => (closeTrail(memory), null) });
  const record: Parameters<typeof bindCapabilities>[1] = { denial: null, reported: new Set(), causes: [] };
  const parts = { grant: fullGrant(checkUserId("alice")), store, staged: new StagedChanges(), epochMs: 0 };
  const capabilities = bindCapabilities(parts, record, new CapabilityTrail(memory));
  const during = capabilities.store_read('{"scope":"memory","path":"a.md"}');
  const closed = readTrail(memory);
  const answers = [
    during,
    capabilities.store_read('{"scope":"memory","path":"late.md"}'),
    capabilities.store_write('{"scope":"memory","path":"late.md","content":"x"}'),
    capabilities.store_read('{"scope":"other","path":"late.md"}'),
    capabilities.clock_now("{}"),
  ];
  for (const answer of answers) expect(JSON.parse(answer)).toMatchObject({ error: { code: "CAPABILITY_DENIED" } });
  expect(readTrail(memory)).toEqual(closed);
  expect(record.denial).toBeNull();
});

const writer = new URL("dist/test/audit/shared-trail.js", import.meta.resolve("memcell/package.json"));
const rounds = isLong ? 1_000 : 60;

test(`${rounds} trails closed while they are written, seed ${seed}`, async () => {
  const random = seededRandom(seed);
  const worker = new Worker(writer);
  let amid = 0;
  // On a busy machine the writer has often ended before a trail is closed: then there are more rounds.
  for (let round = 0; round < rounds || (amid <= rounds / 30 && round < 20 * rounds); round++) {
    const trail = newTrail();
    const answer = once(worker, "message") as Promise<[number]>;
    // oxlint-disable-next-line require-post-message-target-origin -- a thread has no origin
    worker.postMessage(trail.memory);
    const { words: view } = trail;
    while (Atomics.load(view, words.usesEnd) === 0);
    // Every second one is closed early: how much is written meanwhile depends on the machine.
    const turnsMax = round % 2 === 0 ? 500 : 20_000;
    for (let turn = Math.floor(random() * turnsMax); turn > 0; turn--) Atomics.load(view, words.usesEnd);
    closeTrail(trail);
    const { reads, notShown } = readTrail(trail);
    const [answered] = await answer;
    expect(reads.length + notShown).toBeGreaterThanOrEqual(answered);
    expect(reads).toEqual(reads.map((_, at) => ({ scope: "memory", path: `${at}.md`, bytes: at })));
    if (reads.length < 2_500) amid++;
  }
  await worker.terminate();
  // Trails were closed while they were written, not after they were full.
  expect(amid).toBeGreaterThan(rounds / 30);
});
