/** The contestants. To add one, add a line here. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { memoryTool } from "./memory-tool-ways.ts";
import { naive } from "./naive-way.ts";
import { ours } from "./our-ways.ts";
import { emptyServer, filesystemServer, memcellServer, memoryServer } from "./stdio-ways.ts";
import type { OpenWay, Way } from "./way.ts";

const contestants: Readonly<Record<string, OpenWay>> = {
  naive,
  ours,
  "memory-tool": memoryTool,
  serve: memcellServer,
  empty: emptyServer,
  filesystem: filesystemServer,
  memory: memoryServer,
};

/** Opens each in its own folder. */
export async function openWays(folder: string): Promise<Way[]> {
  mkdirSync(folder);
  const opened: Way[] = [];
  for (const [name, open] of Object.entries(contestants)) opened.push(...(await open(join(folder, name))));
  return opened;
}

/** Pairs with equal transport and equal promises. No peer's calls survive a cut of the power. */
export const equalTransport = [
  { key: "memory-tool-both", ours: "memcell-relaxed", peer: "memory-tool-both" },
  { key: "memory-tool-new", ours: "memcell-new", peer: "memory-tool-new" },
  { key: "filesystem-both", ours: "memcell-stdio-relaxed", peer: "filesystem-both" },
  { key: "memory-server", ours: "memcell-stdio-relaxed", peer: "memory-server" },
] as const;

/** Compared over stdio, with and without the transport's time. */
export const overStdio = [
  "memcell-stdio",
  "memcell-stdio-relaxed",
  "filesystem",
  "filesystem-both",
  "memory-server",
] as const;
