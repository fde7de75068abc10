/** A user whose memory a run has poisoned, and agents that write one call after the other. */
import { createRuntime, memoryStore, postgresStore } from "memcell";
import type { CallContext, Runtime, ToolResult } from "memcell";

import { freshDatabase } from "../support/postgres/fresh-database.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { alice, upsert } from "./upkeep-stage.ts";

export const engines = ["files", "memory", "PostgreSQL"] as const;
export type BusyScope = "memory" | "store";

export interface Writers extends AsyncDisposable {
  /** Ends them, and returns what failed. */
  end(): Promise<unknown[]>;
}

interface Writing {
  readonly scope: BusyScope;
  readonly run: string;
}

export async function busyStage(engine: (typeof engines)[number]) {
  const folder = temporaryFolder();
  const places = {
    files: () => ({ dataDir: folder.path }),
    memory: () => ({ store: memoryStore() }),
    PostgreSQL: async () => ({ store: postgresStore({ url: await freshDatabase() }) }),
  };
  const runtime = await createRuntime({ ...(await places[engine]()), plugins: ["user-memory", "stores"] });
  return {
    runtime,
    upkeep: runtime.upkeep,
    /** Writes entries of the run "bad". */
    async poison(scope: BusyScope, entries: number): Promise<void> {
      for (let at = 0; at < entries; at++) {
        const result = await write(runtime, `bad-${at}`, at, { scope, run: "bad" });
        if (!result.ok) throw new Error(result.error.message);
      }
    },
    /** Resolves when each of them has written. Each writes until it is ended. */
    write: (count: number, writing: Writing): Promise<Writers> => startWriters(runtime, count, writing),
    async [Symbol.asyncDispose]() {
      await runtime.close();
      folder[Symbol.dispose]();
    },
  };
}

async function startWriters(runtime: Runtime, count: number, writing: Writing): Promise<Writers> {
  const failures: unknown[] = [];
  const over = new AbortController();
  const loop = async (writer: number, begun: () => void): Promise<void> => {
    for (let call = 0; !over.signal.aborted; call++) {
      const result = await write(runtime, `writer-${writer}`, call, writing);
      if (!result.ok) failures.push(result.error);
      begun();
    }
  };
  const loops: Promise<void>[] = [];
  const begin = (writer: number) => new Promise<void>((resolve) => void loops.push(loop(writer, resolve)));
  await Promise.all(Array.from({ length: count }, (_, writer) => begin(writer)));
  const end = async (): Promise<unknown[]> => {
    over.abort();
    await Promise.all(loops);
    return failures;
  };
  return { end, [Symbol.asyncDispose]: async () => void (await end()) };
}

function write(runtime: Runtime, name: string, call: number, { scope, run }: Writing): Promise<ToolResult> {
  const ctx: CallContext = { ...alice, origin: { class: "direct_user", run } };
  const text = `text ${call}`;
  if (scope === "memory") return runtime.call("UpdateUserMemory", upsert(name, text), ctx);
  const path = `/memories/${name}.md`;
  const isNew = call === 0 || run === "bad";
  const input = isNew
    ? { command: "create", path, file_text: text }
    : { command: "insert", path, insert_line: 0, insert_text: `${text}\n` };
  return runtime.callAsHost("stores/AnthropicMemory", input, ctx);
}
