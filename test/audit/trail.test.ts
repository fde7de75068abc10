/** A call's trail in shared memory: closed at any moment, it has every answered use, whole, and nothing after that. */
import { once } from "node:events";
import { Worker } from "node:worker_threads";

import { expect, test } from "vitest";

import { trailLimits } from "../../shared/limits.ts";
import { seed } from "../stage/seed.ts";
import { checkUserId } from "../stage/store.ts";
import { emptyFolder } from "../support/empty-folder.ts";
import { fullGrant } from "../support/full-grant.ts";
import { seededRandom } from "../support/seeded-random.ts";
import {
  bindCapabilities,
  CapabilityTrail,
  closeTrail,
  newTrail,
  readTrail,
  StagedChanges,
  words,
} from "./shared-trail.ts";
import type { Trail } from "./shared-trail.ts";

type Capabilities = ReturnType<typeof bindCapabilities>;
type Denial = Parameters<typeof bindCapabilities>[1];

function openCall(memory: Trail, store = emptyFolder): { capabilities: Capabilities; record: Denial } {
  const record: Denial = { denial: null, reported: new Set(), causes: [] };
  const parts = { grant: fullGrant(checkUserId("alice")), store, staged: new StagedChanges(), epochMs: 0 };
  return { record, capabilities: bindCapabilities(parts, record, new CapabilityTrail(memory)) };
}

const place = (path: string, more: object = {}): string => JSON.stringify({ scope: "memory", path, ...more });

test("a closed trail records no uses, and none is answered", () => {
  const memory = newTrail();
  const { capabilities, record } = openCall(memory);
  capabilities.store_read(place("a.md"));
  closeTrail(memory);
  const before = readTrail(memory);
  expect(before.reads).toHaveLength(1);
  for (const [name, request] of [
    ["store_read", place("late.md")],
    ["store_write", place("late.md", { content: "x" })],
    ["store_read", '{"scope":"other","path":"late.md"}'],
    ["clock_now", "{}"],
  ] as const) {
    expect(JSON.parse(capabilities[name](request))).toMatchObject({ error: { code: "CAPABILITY_DENIED" } });
  }
  expect(readTrail(memory)).toEqual(before);
  expect(record.denial).toBeNull();
});

test("when a trail is closed during a use, the use is recorded or not answered", () => {
  const memory = newTrail();
  const closing = { ...emptyFolder, read: () => (closeTrail(memory), null), [Symbol.dispose]: () => {} };
  const { capabilities } = openCall(memory, closing);
  expect(JSON.parse(capabilities.store_read(place("a.md")))).toMatchObject({ error: { code: "CAPABILITY_DENIED" } });
});

test("counts uses that find no room, and they never take the room of denials", () => {
  const memory = newTrail();
  const trail = new CapabilityTrail(memory);
  const count = Math.ceil(trailLimits.usesBytes / 200);
  for (let at = 0; at < count; at++) trail.write("memory", `${at}`.padStart(255, "x"), 1);
  trail.read("memory", "a.md", 1);
  trail.refuse("store_read", "CAPABILITY_DENIED", () => ({ scope: "s", path: "p" }));
  const { writes, reads, changesNotShown, looksNotShown, refusals } = readTrail(memory);
  expect(writes.length + changesNotShown).toBe(count);
  expect(changesNotShown).toBeGreaterThan(0);
  expect(reads.length + looksNotShown).toBe(1);
  expect(refusals).toHaveLength(1);
});

test("has room for the largest repair: 1,000 entries with the longest names are read, moved and written", () => {
  const memory = newTrail();
  const trail = new CapabilityTrail(memory);
  for (let at = 0; at < 1_000; at++) {
    const name = `${at}`.padStart(100, "x");
    trail.read("memory", `${name}.md`, 1);
    trail.write("memory", `${name}.md`, 1);
    trail.trash("memory", `${name}.md`, { trashed: `trash/${name}.20231114T221320000Z-2.md`, bytes: 1 });
  }
  const { reads, writes, trashed, changesNotShown, looksNotShown } = readTrail(memory);
  expect([reads.length, writes.length, trashed.length]).toEqual([1_000, 1_000, 1_000]);
  expect(changesNotShown + looksNotShown).toBe(0);
});

const writer = new URL("dist/test/audit/shared-trail.js", import.meta.resolve("memcell/package.json"));

test(`300 trails closed while they are written, seed ${seed}`, async () => {
  const random = seededRandom(seed);
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
    const [answered] = await answer;
    expect(reads.length + looksNotShown).toBeGreaterThanOrEqual(answered);
    expect(reads).toEqual(reads.map((_, at) => ({ scope: "memory", path: `${at}.md`, bytes: at })));
    if (reads.length < 2_500) amid++;
  }
  await worker.terminate();
  // Trails were closed while they were written, not after they were full.
  expect(amid).toBeGreaterThan(20);
});
