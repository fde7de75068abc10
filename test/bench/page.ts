/**
 * `npm run bench:page`: the processor time of each screen of the person's page, on both threads together, for a memory of 1,000
 * entries, 1,000 versions and 40 runs. Prints medians and how far they are above 150 ms. The first look at each screen does not
 * count.
 *
 * usage: node dist/test/bench/page.js [--rounds N]
 */
import { parseArgs } from "node:util";

import { openPageStage, remember, suggest } from "../page/page-stage.ts";

const { values } = parseArgs({ options: { rounds: { type: "string", default: "9" } } });
const rounds = Number(values.rounds);
const boundMs = 150;

await using stage = await openPageStage();
await using person = await stage.visit({ idleMs: 3_600_000 });
const { userId } = person;
const description = "What an agent has understood of it in a conversation, in a line of the usual length";
for (let at = 0; at < 999; at++) {
  const origin = { class: "model_inference", run: `run-${at % 40}` };
  await remember(stage.runtime, userId, { name: `topic-${at}`, description, body: "Hotels in Vienna.\n", origin });
}
const waiting = await suggest(stage.runtime, userId, { name: "offer", description });
const run = /\/undo\/[0-9a-f]{32}/.exec((await person.look("/changes")).body)?.[0] ?? "";

const screens: Readonly<Record<string, () => Promise<{ readonly status: number }>>> = {
  Memory: () => person.look(""),
  "Memory, found by words": () => person.send("/search", { words: "hotels vienna" }),
  Entry: () => person.look("/entry/memory/topic-5.md"),
  "Entry, an earlier text": () => person.look("/version/6/memory/topic-5.md"),
  Waiting: () => person.look("/waiting"),
  "A suggestion": () => person.look(`/waiting/${waiting}`),
  Changes: () => person.look("/changes"),
  "Undo, its plan": () => person.look(run),
  Sharing: () => person.look("/sharing"),
  Trash: () => person.look("/trash"),
  "Your data": () => person.look("/data"),
  Problems: () => person.look("/check"),
  "Erase, its plan": () => person.look("/erase"),
};

const tookMs = new Map<string, number[]>(Object.keys(screens).map((name) => [name, []]));
for (let round = 0; round <= rounds; round++) {
  for (const [name, look] of Object.entries(screens)) {
    const before = process.cpuUsage();
    const { status } = await look();
    const { user, system } = process.cpuUsage(before);
    if (status !== 200) throw new Error(`${name}: ${status}`);
    if (round > 0) tookMs.get(name)?.push((user + system) / 1_000);
  }
}
for (const [name, all] of tookMs) {
  const median = all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)] ?? 0;
  const above = median > boundMs ? `, ${Math.round(median - boundMs)} above ${boundMs}` : "";
  console.log(`${name.padEnd(24)} ${median.toFixed(0).padStart(5)} ms${above}`);
}
