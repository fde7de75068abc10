/** Grants that strangers give to a user: they push out no other grant, and keep no other grant out. */
import { expect, test } from "vitest";

import { ids, nowMs, openStoreStage } from "./store-stage.ts";

/** Ids below all others. */
const strangers = Array.from({ length: 260 }, (_, at) => `00000000-0000-4000-8000-${String(at + 1).padStart(12, "0")}`);

test("the oldest grants stay, whatever the ids, and grants that have ended take no place", async () => {
  let now = nowMs;
  await using stage = await openStoreStage({ clock: () => now });
  const listed = async (): Promise<readonly string[]> =>
    (await stage.runtime.stores({ userId: ids.reader }).list()).map(({ id }) => id);
  for (const id of strangers) stage.write(`.granted/${ids.reader}/${id}.${nowMs}.${nowMs + 5}`, "");
  expect(await listed()).toEqual([ids.reader, ids.alice]);

  // Ended hints of the same strangers come first, if only their age counts.
  for (const id of strangers) stage.write(`.granted/${ids.writer}/${id}.0.${nowMs}`, "");
  await stage.runtime.stores({ userId: ids.chat }).grant(ids.writer, { level: "search" });
  now += 10;
  const searched = await stage.memory("writer", { command: "search", query: "secret" });
  expect(searched).toMatchObject({ data: { results: [{}] } });
  expect(await stage.memory("writer", { command: "stores" })).toMatchObject({ data: { stores: [{}, {}, {}] } });
});

test("a grant that has ended goes when its store's grants change, with its hint", async () => {
  let now = nowMs;
  await using stage = await openStoreStage({ clock: () => now });
  const mallory = stage.runtime.stores({ userId: "mallory" });
  await mallory.grant(ids.stranger, { expiresAt: new Date(nowMs + 1) });
  expect(stage.hints("stranger")).toHaveLength(1);
  now += 1;
  await mallory.grant("another");
  expect(stage.hints("stranger")).toEqual([]);
});
