/** How much a browser gets: no screen of a large memory is over 60 KB. */
import { Buffer } from "node:buffer";

import { afterAll, expect, test } from "vitest";

import { linksIn } from "./page-forms.ts";
import { openPageStage, remember, suggest } from "./page-stage.ts";

const stage = await openPageStage();
afterAll(() => stage[Symbol.asyncDispose]());

const bytesMax = 60_000;
const origin = (at: number) => ({ class: "model_inference", run: `session-2026-11-${at % 40}` });

test("no screen of 1,000 entries, 1,000 versions and 40 runs is over 60 KB", { timeout: 240_000 }, async () => {
  await using person = await stage.visit({ idleMs: 600_000 });
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
  const seen = new Map<string, number>();
  const ahead = [person.base];
  const screens = new Map<string, number>();
  for (let path = ahead.shift(); path !== undefined; path = ahead.shift()) {
    const screen = path.slice(person.base.length).split(/[/?]/)[1] ?? "";
    const [count, isParted] = [screens.get(screen) ?? 0, path.includes("?")];
    if (seen.has(path) || (count >= 2 && !isParted) || count > 4) continue;
    screens.set(screen, count + 1);
    const { status, body } = await person.ask({ path, headers: { cookie: person.cookie } });
    expect([path, status]).toEqual([path, 200]);
    seen.set(path, Buffer.byteLength(body));
    ahead.push(...linksIn(body).filter((link) => !link.startsWith("#")));
  }
  const found = await person.submit(await person.look(""), "/search", { words: "understood" });
  seen.set(`${person.base}/search`, Buffer.byteLength(found.body));
  const told = [...seen].map(
    ([path, bytes]) => `${String(bytes).padStart(7)} ${path.slice(person.base.length) || "/"}`,
  );
  console.log(`Bytes of each screen:\n${told.join("\n")}`);
  expect([...seen].filter(([, bytes]) => bytes > bytesMax)).toEqual([]);
  expect(screens.size).toBeGreaterThan(10);
});
