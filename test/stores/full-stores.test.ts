/** A store that others have filled can be listed and searched, and its limits tell nobody what is hidden in it. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { storeLimits } from "../../shared/limits.ts";
import { oneIn } from "../stage/seed.ts";
import { entryText, ids, openStoreStage } from "./store-stage.ts";
import type { StoreStage } from "./store-stage.ts";

const create = (path: string): object => ({ command: "create", path, content: "one more" });

describe("a store of nearly 64 MiB", () => {
  const count = 640;
  const user = { userId: ids.alice };
  let stage: StoreStage;
  beforeAll(async () => {
    stage = await openStoreStage();
    const value = "x".repeat(100_000);
    for (let at = 0; at < count; at++)
      stage.write(`${ids.alice}/entries/_.by/${ids.writer}/f${at}_.md`, entryText(`f${at}`, ids.writer, value));
  });
  afterAll(() => stage[Symbol.asyncDispose]());

  const uses: Readonly<Record<string, () => Promise<void>>> = {
    "is listed": async () => {
      const listed = await stage.memory("reader", { command: "view", path: `/memories/shared/${ids.alice}/` });
      expect(listed.ok && listed.message.split("\n").length).toBe(count + 1);
    },
    "is searched": async () => {
      const found = await stage.memory("alice", { command: "search", query: "secret" });
      expect(found).toMatchObject({ ok: true, data: { results: [{ key: "a.md" }] } });
    },
    "is part of the prompt's index": async () => {
      expect(await stage.runtime.memoryIndex(user)).toContain("- /memories/");
    },
    "has its owner's entries in a list": async () => {
      const listed = await stage.runtime.callAsHost("stores/ListOwnEntries", {}, user);
      expect(listed).toMatchObject({ data: { entries: [{ name: "a.md" }] } });
    },
    "is shown by Claude's tool": async () => {
      const shown = await stage.runtime.callAsHost("AnthropicMemory", { command: "view", path: "/memories" }, user);
      expect(shown.ok && shown.message.split("\n").length).toBe(count + 3);
    },
  };
  test.for(oneIn(2, Object.entries(uses)))("%s", { timeout: 60_000 }, ([, use]) => use());
});

test("a listing that no answer holds is cut, and says so", async () => {
  await using stage = await openStoreStage();
  for (let at = 0; at < 1_000; at++) {
    const key = `${"long-name-".repeat(8)}${at}`;
    stage.write(`${ids.alice}/entries/${key}_.md`, entryText(key, ids.alice, ""));
  }
  const listed = await stage.memory("alice", { command: "view", path: "/memories/" });
  expect(listed).toMatchObject({ ok: true, message: expect.stringMatching(/\n\[\d+ more: view a folder of them\]$/) });
}, 60_000);

test("large entries that others have put under a key do not hide the caller's own", async () => {
  await using stage = await openStoreStage();
  const others = Array.from({ length: 6 }, (_, at) => `${at + 1}a000000-0000-4000-8000-000000000000`);
  const large = "y\n".repeat(50_000);
  for (const id of others) stage.write(`${ids.alice}/entries/_.by/${id}/a.md`, entryText("a.md", id, large));
  const seen = await stage.memory("alice", { command: "view", path: "/memories/a.md" });
  expect(seen).toMatchObject({ ok: true, message: expect.stringMatching(/^\[created by you\]\n\| the secret/) });
  expect(seen.ok && seen.message.match(/\n\[created by .{36}\]/g)).toHaveLength(6);
  expect(seen).toMatchObject({ message: expect.stringContaining("\n(too large for this answer)") });
});

test("a full store tells its bytes to its owner alone", async () => {
  await using stage = await openStoreStage();
  stage.write(`${ids.alice}/entries/trash/big.md`, "x".repeat(storeLimits.scopeBytesMax));
  const own = await stage.memory("alice", create("/memories/n.md"));
  expect(own).toMatchObject({ error: { code: "QUOTA_EXCEEDED", message: expect.stringMatching(/hold \d+ bytes/) } });
  const others = await stage.memory("writer", create(`/memories/shared/${ids.alice}/n.md`));
  const message = expect.stringMatching(/the store would hold too many bytes with its trash, at most 67108864 allowed/);
  expect(others).toMatchObject({ error: { code: "QUOTA_EXCEEDED", message } });
});
