/** Ways to store an entry in this process, and in a server. To add one, add it to the list. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { BetaLocalFilesystemMemoryTool } from "@anthropic-ai/sdk/tools/memory/node";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { createRuntime } from "memcell";

import {
  body,
  describe,
  entryName,
  entryText,
  expectOk,
  indexLine,
  KnownFolder,
  NaiveFolder,
  upsertInput,
} from "../entry.ts";
import type { Contestant, Step } from "../take-turns.ts";

/** What each flushes is in `test/bench/README.md`. */
export interface Way extends Contestant {
  readonly name: string;
  close(): Promise<void>;
}

type Durability = "full" | "relaxed";
const nothing = async (): Promise<void> => {};

/** Opens each in its own folder. */
export async function openWays(folder: string): Promise<Way[]> {
  mkdirSync(folder);
  const place = (name: string): string => join(folder, name);
  return [
    naive(place("naive")),
    await memcell(place("full"), "full"),
    await memcell(place("relaxed"), "relaxed"),
    await memoryTool(place("tool")),
    await memcellServer(place("served"), "full"),
    await memcellServer(place("served-relaxed"), "relaxed"),
    await filesystemServer(place("filesystem")),
    await memoryServer(place("memory")),
  ];
}

function naive(path: string): Way {
  const folder = new NaiveFolder(path);
  return {
    key: "naive",
    name: "naive durable write",
    run: async ({ at, round }) => folder.upsert(at, round),
    close: nothing,
  };
}

async function memcell(dataDir: string, durability: Durability): Promise<Way> {
  const runtime = await createRuntime({ dataDir, durability, threadsMax: 1 });
  return {
    key: durability === "full" ? "memcell" : "memcell-relaxed",
    name: durability === "full" ? "memcell" : 'memcell, durability "relaxed"',
    run: ({ at, round }) => expectOk(runtime.call("UpdateUserMemory", upsertInput(at, round), { userId: "alice" })),
    close: () => runtime.close(),
  };
}

const entryPath = (at: number): string => `/memories/${entryName(at)}.md`;
const index = "/memories/MEMORY.md";

/** It flushes a file before it renames it, but not the folder. So the new text is durable, but its name is not. */
async function memoryTool(folder: string): Promise<Way> {
  const tool = await BetaLocalFilesystemMemoryTool.init(folder);
  const made = new Set<number>();
  /** Creates the entry's file and its index line in the warm-up round. */
  const prepare = async ({ at, round }: Step): Promise<void> => {
    if (made.has(at)) return;
    made.add(at);
    const before = describe(at, round - 1);
    await tool.create({ command: "create", path: entryPath(at), file_text: entryText(at, before) });
    const line = indexLine(at, before);
    if (made.size === 1) await tool.create({ command: "create", path: index, file_text: line });
    else await tool.insert({ command: "insert", path: index, insert_line: made.size - 1, insert_text: line });
  };
  return {
    key: "memory-tool-both",
    name: "memory tool of @anthropic-ai/sdk, str_replace, both files",
    prepare,
    run: async ({ at, round }) => {
      const change = { old_str: describe(at, round - 1), new_str: describe(at, round) };
      for (const path of [entryPath(at), index]) {
        await tool.str_replace({ command: "str_replace", path, ...change });
      }
    },
    close: nothing,
  };
}

const scriptOf = (specifier: string): string => fileURLToPath(import.meta.resolve(specifier));

async function memcellServer(dataDir: string, durability: Durability): Promise<Way> {
  const script = scriptOf("memcell/package.json").replace("package.json", "dist/host/cli/main.js");
  const args = ["serve", "--user", "alice", "--data", dataDir, "--durability", durability];
  const server = await startServer(script, args);
  return {
    key: durability === "full" ? "memcell-stdio" : "memcell-stdio-relaxed",
    name: durability === "full" ? "memcell serve" : "memcell serve --durability relaxed",
    run: ({ at, round }) => server.call("UpdateUserMemory", upsertInput(at, round)),
    close: server.close,
  };
}

/** `write_file` renames and flushes nothing. */
async function filesystemServer(folder: string): Promise<Way> {
  mkdirSync(folder);
  const server = await startServer(scriptOf("@modelcontextprotocol/server-filesystem/dist/index.js"), [folder]);
  const known = new KnownFolder();
  return {
    key: "filesystem-both",
    name: "server-filesystem, write_file, both files",
    run: async ({ at, round }) => {
      for (const [name, content] of known.change(at, round)) {
        await server.call("write_file", { path: join(folder, name), content });
      }
    },
    close: server.close,
  };
}

/** `create_entities` writes one file with everything and flushes nothing. */
async function memoryServer(folder: string): Promise<Way> {
  mkdirSync(folder);
  const script = scriptOf("@modelcontextprotocol/server-memory/dist/index.js");
  const server = await startServer(script, [], { MEMORY_FILE_PATH: join(folder, "memory.jsonl") });
  return {
    key: "memory-server",
    name: "server-memory, create_entities",
    // It does not replace an existing entity, so the entry is deleted before it is created again.
    prepare: ({ at }) => server.call("delete_entities", { entityNames: [entryName(at)] }),
    run: ({ at, round }) => {
      const entity = { name: entryName(at), entityType: "user", observations: [describe(at, round), body] };
      return server.call("create_entities", { entities: [entity] });
    },
    close: server.close,
  };
}

interface StdioServer {
  readonly call: (tool: string, input: Record<string, unknown>) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Uses the 2025 protocol, which the peers support. */
async function startServer(
  script: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<StdioServer> {
  const client = new Client({ name: "memcell-bench", version: "0" });
  const command = process.execPath;
  await client.connect(new StdioClientTransport({ command, args: [script, ...args], env, stderr: "ignore" }));
  return {
    call: async (name, input) => {
      const result = await client.callTool({ name, arguments: input });
      if (result.isError) throw new Error(`${name} failed: ${JSON.stringify(result.content)}`);
    },
    close: () => client.close(),
  };
}
