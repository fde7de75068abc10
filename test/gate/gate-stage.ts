/** Callers, what they call, and stores for tests of the gate. */
import { join } from "node:path";

import { createRuntime, fileStore, memoryStore, postgresStore } from "memcell";
import type { CallContext, OriginClass, Runtime, RuntimeOptions, StoreDefinition, ToolResult } from "memcell";
import { expect } from "vitest";

import { freshDatabase } from "../support/postgres/fresh-database.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { trustingPolicy } from "../support/trusting-policy.ts";
import { userFolder } from "../support/user-files.ts";
import { waitingId } from "../support/waiting-id.ts";

export const dayMs = 86_400_000;

/** Who is at the keyboard. */
export const owner = (userId: string): CallContext => ({ userId });
/** A web page. */
export const web = (userId: string, run = "web"): CallContext => inRun(userId, run, "tool_external");
export const inRun = (userId: string, run: string, of: OriginClass = "direct_user"): CallContext => ({
  userId,
  origin: { class: of, run },
});

export const save = (runtime: Runtime, name: string, ctx: CallContext, body = "x"): Promise<ToolResult> =>
  runtime.call("UpdateUserMemory", { action: "upsert", name, type: "user", description: `About ${name}`, body }, ctx);
export const read = (runtime: Runtime, name: string, ctx: CallContext): Promise<ToolResult> =>
  runtime.call("ReadUserMemory", { name }, ctx);
/** An entry's text, or the code of the error. */
export const bodyOf = async (runtime: Runtime, userId: string, name: string): Promise<unknown> => {
  const answer = await read(runtime, name, { userId });
  return answer.ok ? (answer.data as { readonly body: string }).body : answer.error.code;
};
/** The id under which a write waits. */
export const waits = async (result: Promise<ToolResult>): Promise<string> => waitingId(await result);
export const problemsOf = async (runtime: Runtime, userId: string): Promise<string[]> =>
  (await runtime.upkeep.inspect({ userId })).map(({ problem }) => problem);

/** Every write takes effect. */
export const trusting = (): ReturnType<typeof trustingPolicy> => trustingPolicy({ active: "untrusted_document" });

export const storeKinds = ["files", "memory", "PostgreSQL"] as const;
/** On mounted files, the journals of some users are folders of their own. */
export type StoreKind = (typeof storeKinds)[number] | "mounted files";
export const mountedUsers = Array.from({ length: 20 }, (_, at) => `user-${at + 1}`);

export interface GateStage extends AsyncDisposable {
  /** The folder of all data, on files. */
  readonly path: string;
  /** Another runtime on the same store, as of another process. It closes with the stage. */
  open(options?: Partial<RuntimeOptions>): Promise<Runtime>;
  /** The folder that the host keeps for itself in a user's. */
  own(userId: string, ...names: readonly string[]): string;
  /** A page's text becomes an entry, `page`, because a policy lets it. */
  poison(userId: string): Promise<void>;
  /** Closes all runtimes, so that somebody else can change the files. */
  close(): Promise<void>;
  store(): StoreDefinition;
}

/** A new store. `connectionsMax`: of a database. */
export async function openGateStage(kind: StoreKind, connectionsMax = 10): Promise<GateStage> {
  const folder = temporaryFolder();
  const url = kind === "PostgreSQL" ? await freshDatabase() : "";
  const memory = memoryStore();
  const mounts = mountedUsers.map((userId) => ({ userId, scope: "journal", dir: join(folder.path, "notes", userId) }));
  const of = {
    files: () => fileStore({ dir: folder.path, durability: "relaxed" }),
    "mounted files": () => fileStore({ dir: join(folder.path, "data"), mounts, durability: "relaxed" }),
    memory: () => memory,
    PostgreSQL: () => postgresStore({ url, connectionsMax }),
  };
  const runtimes: Runtime[] = [];
  const open = async (options: Partial<RuntimeOptions> = {}): Promise<Runtime> => {
    const runtime = await createRuntime({
      store: of[kind](),
      plugins: ["user-memory", "journal", "stores"],
      threadsMax: 1,
      ...options,
    });
    runtimes.push(runtime);
    return runtime;
  };
  let lax: Promise<Runtime> | null = null;
  const close = async (): Promise<void> => {
    lax = null;
    await Promise.all(runtimes.splice(0).map((each) => each.close()));
  };
  return {
    path: folder.path,
    open,
    close,
    store: of[kind],
    own: (userId, ...names) => join(userFolder(folder.path, userId), ".memcell", ...names),
    async poison(userId) {
      lax ??= open({ policy: trusting() });
      expect(await save(await lax, "page", web(userId))).toMatchObject({ ok: true });
    },
    async [Symbol.asyncDispose]() {
      await close();
      folder[Symbol.dispose]();
    },
  };
}
