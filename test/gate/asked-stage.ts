/** A runtime whose program is asked about calls, on each kind of store. */
import { EventEmitter, once } from "node:events";

import { createRuntime, fileStore, memoryStore, postgresStore, storeIdOf } from "memcell";
import type { AskedWrite, CallContext, Runtime, RuntimeOptions, StoreDefinition, ToolResult, WriteHook } from "memcell";

import { freshDatabase } from "../support/postgres/fresh-database.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

export const storeKinds = ["files", "memory", "postgres"] as const;
type StoreKind = (typeof storeKinds)[number];

export interface Question {
  readonly write: AskedWrite;
  readonly answer: (answer: "ok" | "raise") => void;
}

/** A hook that the test answers for: about the users that it names. */
export function answeredHook(...users: readonly string[]): { onWrite: WriteHook; next: () => Promise<Question> } {
  const questions: Question[] = [];
  const events = new EventEmitter();
  const onWrite: WriteHook = (write) => {
    if (!users.includes(write.userId)) return "ok";
    return new Promise((answer) => {
      questions.push({ write, answer });
      events.emit("asked");
    });
  };
  const next = async (): Promise<Question> => {
    for (;;) {
      const question = questions.shift();
      if (question !== undefined) return question;
      await once(events, "asked");
    }
  };
  return { onWrite, next };
}

export const upsert = (runtime: Runtime, ctx: CallContext | string, name: string, body = "text") =>
  runtime.call(
    "UpdateUserMemory",
    { action: "upsert", name, type: "reference", description: `About ${name}`, body },
    typeof ctx === "string" ? { userId: ctx } : ctx,
  );

export const bodyOf = async (runtime: Runtime, userId: string, name: string): Promise<unknown> => {
  const read = await runtime.call("ReadUserMemory", { name }, { userId });
  return read.ok ? (read.data as { readonly body: string }).body : read.error.code;
};

export const inStore = (runtime: Runtime, userId: string, owner: string, name: string): Promise<ToolResult> => {
  const folder = userId === owner ? "/memories/" : `/memories/shared/${storeIdOf(owner)}/`;
  return runtime.callAsHost("memory", { command: "create", path: `${folder}${name}`, content: name }, { userId });
};

export interface AskedStage extends AsyncDisposable {
  readonly runtime: Runtime;
  /** A runtime on the same store, as of another process. */
  another(): Promise<Runtime>;
}

/** On a new store. `connectionsMax`: of a database. */
export async function openAskedStage(
  kind: StoreKind,
  options: Omit<RuntimeOptions, "store" | "dataDir">,
  connectionsMax = 10,
): Promise<AskedStage> {
  const folder = temporaryFolder();
  const url = kind === "postgres" ? await freshDatabase() : "";
  const memory = memoryStore();
  const store = (): StoreDefinition =>
    kind === "files"
      ? fileStore({ dir: folder.path })
      : kind === "memory"
        ? memory
        : postgresStore({ url, connectionsMax });
  const runtimes: Runtime[] = [];
  const start = async (more: typeof options): Promise<Runtime> => {
    const runtime = await createRuntime({ store: store(), plugins: ["user-memory", "stores"], ...more });
    runtimes.push(runtime);
    return runtime;
  };
  return {
    runtime: await start(options),
    another: () => start({}),
    async [Symbol.asyncDispose]() {
      await Promise.all(runtimes.map((each) => each.close()));
      folder[Symbol.dispose]();
    },
  };
}
