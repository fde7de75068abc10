/** A store with as many items as it can have. */
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime, storeIdOf } from "memcell";
import type { ToolResult } from "memcell";
import { expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";

const text = (key: string): string =>
  `---\nkey: "${key}"\nnamespace: "n"\nin_context: false\nencrypted: false\nupdated: '2026-01-01T00:00:00.000Z'\n---\nx`;

const put = (namespace: string, key: string): object => ({ op: "put", namespace: [namespace], key, value: 1 });

test("a store has 10,000 items at most, a person's files count, and every search comes to its end", async () => {
  using folder = temporaryFolder();
  await using runtime = await createRuntime({ dataDir: folder.path, plugins: ["stores"], threadsMax: 1 });
  const ctx = { userId: "lea" };
  const items = join(folder.path, "stores", storeIdOf("lea"), "entries/_.items");
  mkdirSync(join(items, "n"), { recursive: true });
  for (let at = 0; at < 9_999; at++) writeFileSync(join(items, "n", `k${at}_.md`), text(`k${at}`));
  const send = (...operations: object[]): Promise<ToolResult> =>
    runtime.callAsHost("stores/StoreBatch", { operations }, ctx);
  const full = { ok: false, error: { code: "KEY_LIMIT_REACHED" } };

  expect(await send(put("m", "a"), put("m", "b"))).toMatchObject(full);
  expect(await send(put("m", "a"))).toMatchObject({ ok: true });
  expect(await send(put("m", "b"))).toMatchObject(full);
  expect(await send(put("m", "a"), put("n", "k1"))).toMatchObject({ ok: true });
  // Entries count apart.
  await runtime.stores(ctx).setInternal(null, "k", 1);

  expect(await send({ op: "search", query: "x", limit: 2 }, { op: "namespaces" })).toMatchObject({
    data: { results: [{ items: [{}, {}], leftOut: 4_000 }, { namespaces: [["m"], ["n"]] }] },
  });
  let [found, calls, next]: [number, number, object | undefined] = [0, 0, {}];
  while (next !== undefined) {
    const result = await send({ op: "search", filter: { none: { $ne: 1 } }, limit: 10_000, ...next });
    if (!result.ok) throw new Error(result.error.message);
    const [part] = (result.data as { results: { items: unknown[]; next?: object }[] }).results;
    found += part?.items.length ?? 0;
    next = part?.next;
    calls++;
  }
  expect(found).toBe(10_000);
  expect(calls).toBeGreaterThan(3);
  expect(await runtime.upkeep.inspect(ctx)).toEqual([]);
  expect(readdirSync(items)).toEqual(["m", "n"]);
}, 180_000);
