/** Servers in their own process, over stdio: two peers, memcell, and an empty tool. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { body, describe, entryName, KnownFolder, upsertInput } from "../entry.ts";
import { startServer } from "./stdio-client.ts";
import { entryAndIndex } from "./way.ts";
import type { OpenWay, Way } from "./way.ts";

const scriptOf = (specifier: string): string => fileURLToPath(import.meta.resolve(specifier));
const stdio = { transport: "stdio", sandboxed: "no" } as const;

/** `write_file` renames and flushes nothing. */
export const filesystemServer: OpenWay = async (folder) => {
  mkdirSync(folder);
  const script = scriptOf("@modelcontextprotocol/server-filesystem/dist/index.js");
  const server = await startServer(script, [folder]);
  const known = { entry: new KnownFolder(), both: new KnownFolder() };
  const write = (prefix: string, [name, content]: [string, string]): Promise<void> =>
    server.call("write_file", { path: join(folder, `${prefix}${name}`), content });
  return [
    {
      key: "filesystem",
      name: "server-filesystem, write_file",
      facts: { ...stdio, durable: "no", writes: "entry only" },
      run: ({ at, round }) => write("one-", known.entry.change(at, round)[0]),
      close: () => server.close(),
    },
    {
      key: "filesystem-both",
      name: "the same, for the entry and for the index",
      facts: { ...stdio, durable: "no", writes: entryAndIndex },
      run: async ({ at, round }) => {
        for (const file of known.both.change(at, round)) await write("two-", file);
      },
      close: async () => {},
    },
  ];
};

/** `create_entities` writes one file with everything and flushes nothing. */
export const memoryServer: OpenWay = async (folder) => {
  mkdirSync(folder);
  const script = scriptOf("@modelcontextprotocol/server-memory/dist/index.js");
  const server = await startServer(script, [], { MEMORY_FILE_PATH: join(folder, "memory.jsonl") });
  return [
    {
      key: "memory-server",
      name: "server-memory, create_entities",
      facts: { ...stdio, durable: "no", writes: "one file for all entries" },
      // It does not replace an existing entity, so the entry is deleted before it is created again.
      prepare: ({ at }) => server.call("delete_entities", { entityNames: [entryName(at)] }),
      run: ({ at, round }) => {
        const entity = { name: entryName(at), entityType: "user", observations: [describe(at, round), body] };
        return server.call("create_entities", { entities: [entity] });
      },
      close: () => server.close(),
    },
  ];
};

export const memcellServer: OpenWay = async (folder) => [
  await served(join(folder, "full"), "full"),
  await served(join(folder, "relaxed"), "relaxed"),
];

async function served(dataDir: string, durability: "full" | "relaxed"): Promise<Way> {
  const script = scriptOf("memcell/package.json").replace("package.json", "dist/host/cli/main.js");
  const args = ["serve", "--user", "alice", "--data", dataDir, "--durability", durability];
  const server = await startServer(script, args);
  const isFull = durability === "full";
  return {
    key: isFull ? "memcell-stdio" : "memcell-stdio-relaxed",
    name: isFull ? "memcell serve" : "memcell serve --durability relaxed",
    facts: {
      transport: "stdio",
      durable: isFull ? "yes" : "not when the machine stops",
      sandboxed: "yes",
      writes: entryAndIndex,
    },
    run: ({ at, round }) => server.call("UpdateUserMemory", upsertInput(at, round)),
    close: () => server.close(),
  };
}

export const emptyServer: OpenWay = async () => {
  const server = await startServer(fileURLToPath(new URL("empty-server.js", import.meta.url)), []);
  return [
    {
      key: "empty-call",
      name: "an empty tool, same input",
      facts: { ...stdio, durable: "–", writes: "nothing" },
      run: ({ at, round }) => server.call("Nothing", upsertInput(at, round)),
      close: () => server.close(),
    },
  ];
};
