/** 2,000 notes, and 20 MB of JSON, of lines and of one note go through the guest in pieces, each call within its fuel and time. */
import { afterAll, expect, test } from "vitest";

import { openStage } from "../stage/runtime.ts";
import { moveIn } from "../support/move-in.ts";
import type { MovedIn } from "../support/move-in.ts";
import { convertFor } from "./convert-for.ts";

const stage = await openStage({ plugins: ["user-memory", "move-in"], durability: "relaxed" });
afterAll(() => stage[Symbol.asyncDispose]());

const moved = (path: string, text: string): Promise<MovedIn> => movedAll({ [path]: text });
const movedAll = (files: Readonly<Record<string, string>>): Promise<MovedIn> =>
  moveIn(files, convertFor(stage.runtime, "alice"));

const megabytes = 20;
const memories = Array.from({ length: megabytes * 2_000 }, (_, at) => `${at} ${"likes it ".repeat(55)}`);

test.for([
  ["a.json", JSON.stringify({ results: memories.map((memory) => ({ memory, user_id: "a" })) })],
  ["a.txt", memories.map((memory) => `- ${memory}\n`).join("")],
] as const)("%s", { timeout: 300_000 }, async ([path, text]) => {
  const told = await moved(path, text);
  expect(told.entries.length).toBeGreaterThan(2_000);
  const reason = `its rest is beyond the ${told.entries.length} entries that move in at once`;
  expect(told.left).toEqual([{ path, reason }]);
});

test("a note", { timeout: 300_000 }, async () => {
  const text = memories.join("\n");
  const told = await moved("a.md", text);
  expect(told.left).toEqual([]);
  const bodies = told.entries.map(({ content }) => content.replace(/^---\n[^]*?\n---\n/, ""));
  expect(bodies.join("") === text).toBe(true);
});

const dayNote = (at: number): string =>
  `---\ntags: [day${at}]\n---\n# Day ${at}\n\n${"Nothing happened. ".repeat(40)}\n`;

test("2,000 notes", { timeout: 300_000 }, async () => {
  const notes = Array.from({ length: 2_000 }, (_, at) => [`notes of a year/day ${at}.md`, dayNote(at)] as const);
  const told = await movedAll(Object.fromEntries(notes));
  expect([told.entries.length, told.left]).toEqual([2_000, []]);
});
