/** The ways to store an entry of 1 KB and its line in the index that are compared. */
import { closeSync, fdatasyncSync, fsyncSync, mkdirSync, openSync, renameSync, writeSync } from "node:fs";
import { join } from "node:path";

import type { UserId } from "../../host/user-id.ts";
import { createRuntime, DiskRoot, FileStore } from "../crash/host-under-test.ts";

export interface Way {
  readonly name: string;
  /** Stores one of the entries anew. What it says differs from round to round. */
  upsert(entry: number, round: number): Promise<void>;
  close(): Promise<void>;
}

const userId = "alice" as UserId;
const body = "All that is known about it. ".repeat(36);
const describe = (entry: number, round: number): string => `What entry ${entry} says in round ${round}`;

/** A folder's files as a program without sandbox would know them. */
class Folder {
  readonly #descriptions: string[] = [];

  /** The two files that an upsert changes. */
  change(entry: number, round: number): [string, string][] {
    const description = describe(entry, round);
    this.#descriptions[entry] = description;
    const front = `---\nname: e${entry}\ndescription: ${description}\ntype: user\n---\n`;
    const lines = Array.from(this.#descriptions, (text, at) => `- [e${at}](e${at}.md) — ${text}\n`);
    return [
      [`e${entry}.md`, front + body],
      ["MEMORY.md", lines.join("")],
    ];
  }
}

export async function naively(path: string): Promise<Way> {
  mkdirSync(path);
  const folder = new Folder();
  return {
    name: "naive: two files, no sandbox",
    upsert: async (entry, round) => {
      for (const [name, content] of folder.change(entry, round)) {
        const file = openSync(join(path, `${name}.tmp`), "w");
        writeSync(file, content);
        fsyncSync(file);
        closeSync(file);
        renameSync(join(path, `${name}.tmp`), join(path, name));
      }
      const held = openSync(path, "r");
      fsyncSync(held);
      closeSync(held);
    },
    close: async () => {},
  };
}

export async function throughStack(durability: "full" | "relaxed", dataDir: string): Promise<Way> {
  const runtime = await createRuntime({ dataDir, durability, threadsMax: 1 });
  return {
    name: `whole stack, ${durability}`,
    upsert: async (entry, round) => {
      const input = { action: "upsert", name: `e${entry}`, type: "user", description: describe(entry, round), body };
      const result = await runtime.call("UpdateUserMemory", input, { userId });
      if (!result.ok) throw new Error(result.error.message);
    },
    close: () => runtime.close(),
  };
}

export function throughStore(durability: "full" | "relaxed", dataDir: string): Way {
  const store = new FileStore(new DiskRoot(dataDir), { durability, note: (_user, text) => console.warn(text) });
  const folder = new Folder();
  return {
    name: `store alone, ${durability}`,
    upsert: async (entry, round) => {
      const changes = folder
        .change(entry, round)
        .map(([path, content]) => ({ kind: "write", scope: "memory", path, content }) as const);
      const options = { writes: true, until: performance.now() + 30_000 };
      await store.holdUser(userId, options, (held) => held.commit(changes, []));
    },
    close: () => store.close(),
  };
}

/** What a flush costs by itself: 4 KiB written over others in a file that does not grow. */
export function flushing(path: string): Way {
  const [file, page] = [openSync(path, "w"), Buffer.alloc(4096, "x")];
  return {
    name: "one flush of 4 KiB, for comparison",
    upsert: async (entry) => {
      writeSync(file, page, 0, page.length, entry * page.length);
      fdatasyncSync(file);
    },
    close: async () => closeSync(file),
  };
}
