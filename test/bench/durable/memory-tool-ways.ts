/**
 * `BetaLocalFilesystemMemoryTool` of `@anthropic-ai/sdk`, a memory tool on a local folder. It flushes a file before it
 * renames it, but not the folder. So the new text is durable, but its name is not.
 */
import { rm } from "node:fs/promises";
import { join } from "node:path";

import { BetaLocalFilesystemMemoryTool } from "@anthropic-ai/sdk/tools/memory/node";

import { entryName, entryText, describe, indexLine } from "../entry.ts";
import type { Step } from "../take-turns.ts";
import { entryAndIndex } from "./way.ts";
import type { OpenWay, Way } from "./way.ts";

export const memoryTool: OpenWay = async (folder) => [
  await replacing(join(folder, "entry")),
  await replacingBoth(join(folder, "both")),
  await creating(join(folder, "creating")),
];

const facts = {
  transport: "in process",
  durable: "text yes, name no",
  sandboxed: "no",
  writes: "entry only",
} as const;
const close = async (): Promise<void> => {};
const entryPath = (at: number): string => `/memories/${entryName(at)}.md`;
const indexPath = "/memories/MEMORY.md";

async function replacing(folder: string): Promise<Way> {
  const tool = await BetaLocalFilesystemMemoryTool.init(folder);
  return {
    key: "memory-tool",
    name: "memory tool of @anthropic-ai/sdk, str_replace",
    facts,
    prepare: (step) => makeOnce(tool, step),
    run: (step) => replaceIn(tool, entryPath(step.at), step),
    close,
  };
}

async function replacingBoth(folder: string): Promise<Way> {
  const tool = await BetaLocalFilesystemMemoryTool.init(folder);
  return {
    key: "memory-tool-both",
    name: "the same, for the entry and for the index",
    facts: { ...facts, writes: entryAndIndex },
    prepare: (step) => makeOnce(tool, step),
    run: async (step) => {
      await replaceIn(tool, entryPath(step.at), step);
      await replaceIn(tool, indexPath, step);
    },
    close,
  };
}

async function creating(folder: string): Promise<Way> {
  const tool = await BetaLocalFilesystemMemoryTool.init(folder);
  return {
    key: "memory-tool-new",
    name: "memory tool of @anthropic-ai/sdk, create",
    facts,
    prepare: ({ at }) => rm(join(folder, "memories", `${entryName(at)}.md`), { force: true }),
    run: async ({ at, round }) => {
      const text = entryText(at, describe(at, round));
      await tool.create({ command: "create", path: entryPath(at), file_text: text });
    },
    close,
  };
}

const made = new WeakMap<BetaLocalFilesystemMemoryTool, Set<number>>();

/** Creates the entry's file and its index line in the warm-up round. */
async function makeOnce(tool: BetaLocalFilesystemMemoryTool, { at, round }: Step): Promise<void> {
  const entries = made.get(tool) ?? new Set();
  made.set(tool, entries);
  if (entries.has(at)) return;
  entries.add(at);
  const before = describe(at, round - 1);
  await tool.create({ command: "create", path: entryPath(at), file_text: entryText(at, before) });
  const line = indexLine(at, before);
  if (entries.size === 1) await tool.create({ command: "create", path: indexPath, file_text: line });
  else await tool.insert({ command: "insert", path: indexPath, insert_line: entries.size - 1, insert_text: line });
}

async function replaceIn(tool: BetaLocalFilesystemMemoryTool, path: string, { at, round }: Step): Promise<void> {
  const [before, after] = [describe(at, round - 1), describe(at, round)];
  await tool.str_replace({ command: "str_replace", path, old_str: before, new_str: after });
}
