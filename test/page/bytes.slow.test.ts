/** How much a browser gets: no screen of a large memory is over 60 KB. */
import { Buffer } from "node:buffer";

import { afterAll, expect, test } from "vitest";

import { everyScreen } from "./full-memory.ts";
import { openPageStage, remember, suggest } from "./page-stage.ts";

const stage = await openPageStage();
afterAll(() => stage[Symbol.asyncDispose]());

const bytesMax = 60_000;
const origin = (at: number) => ({ class: "model_inference", run: `session-2026-11-${at % 40}` });

test("no screen of 1,000 notes, 1,000 versions and 40 runs is over 60 KB", { timeout: 600_000 }, async () => {
  await using person = await stage.visit({ idleMs: 3_600_000 });
  const { userId } = person;
  const description = "What an agent has understood of it in a conversation, in a line of the usual length";
  const names = Array.from({ length: 1_000 }, (_, at) => `what-was-understood-of-topic-${at}`);
  const write = (name: string, at: number) =>
    remember(stage.runtime, userId, { name, description, origin: origin(at) });
  for (let at = 0; at < 1_000; at += 20) await Promise.all(names.slice(at, at + 20).map((name) => write(name, at)));
  for (let at = 0; at < 50; at++)
    await remember(stage.runtime, userId, { name: names[0] ?? "", body: `Version ${at}.\n`, origin: origin(at) });
  for (const name of names.slice(900, 960))
    await stage.runtime.call("UpdateUserMemory", { action: "delete", name }, { userId });
  for (let at = 0; at < 60; at++) {
    const from = { class: "tool_external", source: `https://shop.example/menu?week=${at}`, run: `menu-${at % 4}` };
    await suggest(stage.runtime, userId, { name: `offer-${at}`, description, origin: from });
  }
  const pages = await everyScreen(person, 4);
  const seen = new Map([...pages].map(([path, body]) => [path, Buffer.byteLength(body)]));
  const found = await person.submit(await person.look(""), "/search", { words: "understood" });
  seen.set(`${person.base}/search`, Buffer.byteLength(found.body));
  const told = [...seen].map(
    ([path, bytes]) => `${String(bytes).padStart(7)} ${path.slice(person.base.length) || "/"}`,
  );
  console.log(`Bytes of each screen:\n${told.join("\n")}`);
  expect([...seen].filter(([, bytes]) => bytes > bytesMax)).toEqual([]);
  expect(seen.size).toBeGreaterThan(20);
});
