/** memcell, then agentool, update a year of agentool's files: only the named blocks change. */
import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { blockOf } from "./block-text.ts";
import { plainSamples } from "./samples.ts";
import { dataOf, readBlock, useStage } from "./stage.ts";
import type { Ask } from "./stage.ts";

const stageFor = useStage();
const daysInYear = 365;
const contents = plainSamples.map(({ content }) => content).filter(({ length }) => length < 1000);

const stray: Readonly<Record<string, string>> = {
  "notes.md": "# Notes\n\nNo block here.\r\n\r\n## Another\n\ttext  \n",
  "sub/half.md": "intro\n\n### by hand\n\nwritten in an editor\n\n## Section\n\nwithout an end",
  "sub/crlf.md": "### crlf\r\n\r\nl1\r\nl2\r\n\r\n<!-- agentool-memory: at=2025-05-05T00:00:00+00:00 -->\r\n\r\n",
  "readme.txt": "### not scanned\n",
};

const block = (key: string, content: string, at: string): string => blockOf(key, content, at, ["a", "b"]);

/** A year of files, in the bytes that `samples.slow.test.ts` shows to be agentool's. */
function yearOfFiles(): Record<string, string> {
  const days = Array.from({ length: daysInYear }, (_, day): [path: string, text: string] => {
    const date = new Date(Date.UTC(2025, 0, 1 + day)).toISOString().slice(0, 10);
    const blocks = [0, 1, 2].map((hour) => {
      const content = contents[(day * 3 + hour) % contents.length] ?? "";
      return block(`day ${day}.${hour}`, content, `${date}T0${hour}:00:00.123456789+00:00`);
    });
    return [`${date.replaceAll("-", "/")}.md`, blocks.join("")];
  });
  const curated = [
    "# Memory\n\nCurated.\n\n",
    block("day 7.0", "hello", "2025-12-31T00:00:00+00:00"),
    block("name", "hello", "2025-12-30T00:00:00+00:00"),
  ];
  return { ...Object.fromEntries(days), "MEMORY.md": curated.join(""), ...stray };
}

function filesIn(journal: string): Record<string, string> {
  const names = readdirSync(journal, { recursive: true, encoding: "utf8" });
  const paths = names.filter((path) => statSync(join(journal, path)).isFile());
  return Object.fromEntries(paths.toSorted().map((path) => [path, readFileSync(join(journal, path), "latin1")]));
}

/** The blocks of a file's text, each from its heading to the next. */
const partsOf = (text: string): string[] => text.split(/^(?=### )/m);

/** When agentool removes a block, it leaves memcell's line and the empty line after it behind. */
const withoutLeavings = (part: string): string => part.replace(/\n(?:<!-- memcell:.*\n|\n)*$/, "\n");

async function update(ask: Ask, key: string, content: string): Promise<string> {
  return String(dataOf(await ask("memory_update", { key, content }))["path"]);
}

test("only the named blocks change in a year of files", async (context) => {
  const stage = stageFor(context);
  stage.clock.epochMs = null;
  const { agentool, memcell, journal } = stage.fresh(yearOfFiles());
  const named = ["day 0.0", "day 31.1", "day 31.2", "day 7.0", "name", "by hand", "crlf", "day 364.2"];
  const before = filesIn(journal);
  const changed = new Set<string>();
  for (const key of named) changed.add(await update(memcell, key, `new text of ${key}\n### and a heading`));
  changed.add(String(dataOf(await memcell("memory_write", { key: "new", content: "x", target: "summary" }))["path"]));
  changed.add(String(dataOf(await memcell("memory_write", { key: "new today", content: "x" }))["path"]));
  const between = filesIn(journal);
  expectOthersKept({ before, after: between, changed, keys: [...named, "new", "new today"] });

  // Then agentool updates memcell's blocks.
  for (const key of named.slice(0, 4)) await update(agentool, key, `newer text of ${key}`);
  const after = filesIn(journal);
  expectOthersKept({ before: between, after, changed, keys: named.slice(0, 4), asKept: withoutLeavings });
  for (const key of [...named, "day 0.1", "day 100.0", "day 31.0", "new"]) {
    const [theirs, ours] = [await readBlock(agentool, key), await readBlock(memcell, key)];
    const { created_at: _theirs, content: written, ...their } = theirs;
    const { created_at: _ours, content, ...our } = ours;
    expect(our).toEqual(their);
    expect(content).toBe(String(written).replace("\n\\### and", "\n### and"));
  }
});

interface Change {
  readonly before: Readonly<Record<string, string>>;
  readonly after: Readonly<Record<string, string>>;
  /** The paths of the files with named blocks. */
  readonly changed: ReadonlySet<string>;
  readonly keys: readonly string[];
  /** The part of a block that must be kept. Default: every byte. */
  readonly asKept?: (part: string) => string;
}

/** Fails unless unnamed files keep all their bytes, and named files all their unnamed blocks. */
function expectOthersKept({ before, after, changed, keys, asKept = (part) => part }: Change): void {
  const isOther = (part: string): boolean =>
    !keys.some((key) => part.startsWith(`### ${key}\n`) || part.startsWith(`### ${key}\r\n`));
  for (const [path, text] of Object.entries(before)) {
    if (!changed.has(path)) expect(after[path], path).toBe(text);
    const others = partsOf(text).filter(isOther).map(asKept);
    const kept = partsOf(after[path] ?? "")
      .filter(isOther)
      .map(asKept);
    expect(kept, path).toEqual(others);
  }
  expect(Object.keys(after).filter((path) => !(path in before) && !changed.has(path))).toEqual([]);
}
