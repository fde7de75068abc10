/** A user whose memory a run has poisoned, and agents that write one call after the other. */
import { createRuntime, memoryStore, postgresStore } from "memcell";
import type { CallContext, Runtime, ToolResult } from "memcell";

import { freshDatabase } from "../support/postgres/fresh-database.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

export const engines = ["files", "memory", "PostgreSQL"] as const;
export type BusyEngine = (typeof engines)[number];
export type BusyScope = "memory" | "store";

export const owner: CallContext = { userId: "alice" };
const ofRun = (run: string): CallContext => ({ userId: "alice", origin: { class: "direct_user", run } });

export interface Writers extends AsyncDisposable {
  /** Ends them, and returns what failed. */
  end(): Promise<unknown[]>;
}

export interface BusyStage extends AsyncDisposable {
  readonly runtime: Runtime;
  /** Resolves when each of them has written. Each writes until it is ended. */
  write(scope: BusyScope, count: number, run?: string): Promise<Writers>;
}

export async function busyStage(engine: BusyEngine): Promise<BusyStage> {
  const folder = temporaryFolder();
  const place = {
    files: () => ({ dataDir: folder.path }),
    memory: () => ({ store: memoryStore() }),
    PostgreSQL: async () => ({ store: postgresStore({ url: await freshDatabase() }) }),
  };
  const runtime = await createRuntime({ ...(await place[engine]()), plugins: ["user-memory", "stores"] });
  return {
    runtime,
    write: (scope, count, run = "good") => startWriters(runtime, { scope, count, run }),
    async [Symbol.asyncDispose]() {
      await runtime.close();
      folder[Symbol.dispose]();
    },
  };
}

/** Writes entries of a run, whose text is "evil". */
export async function poison(runtime: Runtime, scope: BusyScope, entries: number): Promise<void> {
  for (let at = 0; at < entries; at++) {
    const result = await write(runtime, { scope, name: `bad-${at}`, text: "evil", run: "bad", isNew: true });
    if (!result.ok) throw new Error(result.error.message);
  }
}

async function startWriters(
  runtime: Runtime,
  { scope, count, run }: { readonly scope: BusyScope; readonly count: number; readonly run: string },
): Promise<Writers> {
  const failures: unknown[] = [];
  const over = new AbortController();
  const loop = async (writer: number, begun: () => void): Promise<void> => {
    for (let call = 0; !over.signal.aborted; call++) {
      const name = `writer-${writer}`;
      const result = await write(runtime, { scope, name, text: `text ${call}`, run, isNew: call === 0 });
      if (!result.ok) failures.push(result.error);
      begun();
    }
  };
  const loops: Promise<void>[] = [];
  const allBegun = Array.from(
    { length: count },
    (_, writer) => new Promise<void>((resolve) => void loops.push(loop(writer, resolve))),
  );
  await Promise.all(allBegun);
  const end = async (): Promise<unknown[]> => {
    over.abort();
    await Promise.all(loops);
    return failures;
  };
  return { end, [Symbol.asyncDispose]: async () => void (await end()) };
}

interface BusyWrite {
  readonly scope: BusyScope;
  readonly name: string;
  readonly text: string;
  readonly run: string;
  readonly isNew: boolean;
}

function write(runtime: Runtime, { scope, name, text, run, isNew }: BusyWrite): Promise<ToolResult> {
  if (scope === "memory") {
    const input = { action: "upsert", name, type: "user", description: `About ${name}`, body: text };
    return runtime.call("UpdateUserMemory", input, ofRun(run));
  }
  const path = `/memories/${name}.md`;
  const input = isNew
    ? { command: "create", path, file_text: text }
    : { command: "insert", path, insert_line: 0, insert_text: `${text}\n` };
  return runtime.callAsHost("stores/AnthropicMemory", input, ofRun(run));
}
