/** memcell in this process, and the store without guest and threads, which shows the commit's share. */
import { join } from "node:path";

import { createRuntime, DiskRoot, FileStore } from "../../crash/host-under-test.ts";
import type { UserId } from "../../stage/store.ts";
import { KnownFolder, upsertInput } from "../entry.ts";
import { entryAndIndex } from "./way.ts";
import type { OpenWay, Way } from "./way.ts";

export const ours: OpenWay = async (folder) => [
  await throughStack(join(folder, "full"), "full"),
  await throughStack(join(folder, "relaxed"), "relaxed"),
  await creating(join(folder, "creating")),
  throughStore(join(folder, "store")),
];

const facts = { transport: "in process", durable: "yes", sandboxed: "yes", writes: entryAndIndex } as const;

async function throughStack(dataDir: string, durability: "full" | "relaxed"): Promise<Way> {
  const runtime = await createRuntime({ dataDir, durability, threadsMax: 1 });
  const isFull = durability === "full";
  return {
    key: isFull ? "memcell" : "memcell-relaxed",
    name: isFull ? "memcell" : 'memcell, durability "relaxed"',
    facts: isFull ? facts : { ...facts, durable: "not when the machine stops" },
    run: async ({ at, round }) => {
      const result = await runtime.call("UpdateUserMemory", upsertInput(at, round), { userId: "alice" });
      if (!result.ok) throw new Error(result.error.message);
    },
    close: () => runtime.close(),
  };
}

/** Creates new entries only, in a folder that each round fills again. */
async function creating(dataDir: string): Promise<Way> {
  const runtime = await createRuntime({ dataDir, threadsMax: 1 });
  return {
    key: "memcell-new",
    name: "memcell, entries that are new",
    facts,
    run: async ({ at, round }) => {
      const result = await runtime.call("UpdateUserMemory", upsertInput(at, round), { userId: `round-${round}` });
      if (!result.ok) throw new Error(result.error.message);
    },
    close: () => runtime.close(),
  };
}

function throughStore(dataDir: string): Way {
  const store = new FileStore(new DiskRoot(dataDir), {
    durability: "full",
    note: (_user, text) => console.warn(text),
  });
  const known = new KnownFolder();
  return {
    key: "store",
    name: "memcell's store alone",
    facts: { ...facts, sandboxed: "no" },
    run: async ({ at, round }) => {
      const changes = known
        .change(at, round)
        .map(([path, content]) => ({ kind: "write", scope: "memory", path, content }) as const);
      const options = { writes: true, until: performance.now() + 30_000 };
      await store.hold("alice" as UserId, options, (held) => held.commit(changes, []));
    },
    close: () => store.close(),
  };
}
