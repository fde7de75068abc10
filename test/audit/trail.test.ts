/**
 * A call's trail in shared memory: the main thread reads what the worker thread wrote, and nothing after it is closed.
 */
import { expect, test } from "vitest";

import { CapabilityTrail } from "../../host/audit/collect/capability-trail.ts";
import { readTrail } from "../../host/audit/collect/read-trail.ts";
import { clearTrail, closeTrail, newTrail } from "../../host/audit/collect/trail-memory.ts";
import type { Trail } from "../../host/audit/collect/trail-memory.ts";
import { bindCapabilities } from "../../host/guest/capabilities/bind-capabilities.ts";
import type { BoundCapabilities, CapabilityRecord } from "../../host/guest/capabilities/bind-capabilities.ts";
import { StagedChanges } from "../../host/guest/capabilities/staged-changes.ts";
import { trailLimits } from "../../shared/limits.ts";
import { checkUserId } from "../stage/store.ts";
import { emptyFolder } from "../support/empty-folder.ts";
import { fullGrant } from "../support/full-grant.ts";

function openCall(): { memory: Trail; capabilities: BoundCapabilities; record: CapabilityRecord } {
  const memory = newTrail();
  const record: CapabilityRecord = { denial: null, reported: new Set(), causes: [] };
  const parts = { grant: fullGrant(checkUserId("alice")), store: emptyFolder, staged: new StagedChanges(), epochMs: 0 };
  return { memory, record, capabilities: bindCapabilities(parts, record, new CapabilityTrail(memory)) };
}

const place = (path: string, more: object = {}): string => JSON.stringify({ scope: "memory", path, ...more });

test("records each use once for each path", () => {
  const { memory, capabilities } = openCall();
  for (const path of ["a.md", "b.md", "a.md"]) capabilities.store_read(place(path));
  capabilities.store_write(place("a.md", { content: "four" }));
  capabilities.store_write(place("a.md", { content: "fünf" }));
  capabilities.store_trash(place("a.md"));
  capabilities.store_write(place("a.md", { content: "x" }));
  capabilities.store_read(place("a.md"));
  capabilities.store_list('{"scope":"memory","prefix":"a"}');
  capabilities.clock_now("{}");
  expect(readTrail(memory)).toEqual({
    reads: [
      { scope: "memory", path: "a.md", bytes: 1 },
      { scope: "memory", path: "b.md", bytes: null },
    ],
    lists: [{ scope: "memory", prefix: "a", files: 1 }],
    writes: [
      { scope: "memory", path: "a.md", bytes: 5 },
      { scope: "memory", path: "a.md", bytes: 1 },
    ],
    trashed: [{ scope: "memory", path: "a.md", bytes: 5, trashed: "trash/a.19700101T000000000Z.md" }],
    refusals: [],
    denied: 0,
    failed: 0,
    looksNotShown: 0,
    changesNotShown: 0,
  });
});

test.for([
  { name: "of a scope that is not granted", request: '{"scope":"other","path":"a"}', scope: "other", path: "a" },
  { name: "that is not JSON", request: "{", scope: null, path: null },
  { name: "that is not an object", request: '["memory"]', scope: null, path: null },
  { name: "that is null", request: "null", scope: null, path: null },
  { name: "with numbers for names", request: '{"scope":1,"path":{}}', scope: null, path: null },
  {
    name: "with names of a prototype's properties",
    request: '{"__proto__":{"scope":"x","path":"y"}}',
    scope: null,
    path: null,
  },
  { name: "with extra fields", request: '{"scope":"memory","path":"a","content":"x"}', scope: "memory", path: "a" },
  { name: "of a name beyond ASCII", request: '{"scope":"memory","path":"é💥\\n"}', scope: "memory", path: "é💥\n" },
])("a denied request $name", ({ request, scope, path }) => {
  const { memory, capabilities } = openCall();
  capabilities.store_read(request);
  const { refusals, denied } = readTrail(memory);
  expect(refusals).toEqual([{ capability: "store_read", code: "CAPABILITY_DENIED", scope, path }]);
  expect(denied).toBe(1);
});

test("counts a failing use as failed", () => {
  const { memory, capabilities } = openCall();
  capabilities.store_write(place("a.md", { content: "x".repeat(2 * 1024 * 1024 + 1) }));
  const { refusals, denied, failed, writes } = readTrail(memory);
  expect(refusals).toMatchObject([{ capability: "store_write", code: "QUOTA_EXCEEDED", path: "a.md" }]);
  expect({ denied, failed, writes }).toEqual({ denied: 0, failed: 1, writes: [] });
});

test("a closed trail records no uses, and none is answered", () => {
  const { memory, capabilities, record } = openCall();
  capabilities.store_read(place("a.md"));
  closeTrail(memory);
  const before = readTrail(memory);
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
  const { memory, record } = openCall();
  const reader = { ...emptyFolder, read: () => (closeTrail(memory), null), [Symbol.dispose]: () => {} };
  const parts = { grant: fullGrant(checkUserId("alice")), store: reader, staged: new StagedChanges(), epochMs: 0 };
  const { store_read } = bindCapabilities(parts, record, new CapabilityTrail(memory));
  expect(JSON.parse(store_read(place("a.md")))).toMatchObject({ error: { code: "CAPABILITY_DENIED" } });
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

test("memory that is used again holds nothing of the previous call", () => {
  const { memory, capabilities } = openCall();
  capabilities.store_read(place("a.md"));
  capabilities.store_read("{");
  closeTrail(memory);
  clearTrail(memory);
  expect(readTrail(memory)).toEqual(readTrail(newTrail()));
});
