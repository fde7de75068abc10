/** An opened store of each kind, with a thread that reads it. The suites use only its interface. */
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";

import { fileStore, memoryStore, postgresStore } from "memcell";
import type { StoreDefinition } from "memcell";

import { storeOfScope } from "../stage/store.ts";
import type {
  ChangeSet,
  HeldStores,
  HeldUser,
  HoldOptions,
  ReadBridge,
  Seen,
  Store,
  StoreChanges,
  StoreHoldOptions,
  StoreId,
  UserId,
} from "../stage/store.ts";
import { freshDatabase } from "../support/postgres/fresh-database.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import type { Answer, Order, Question } from "./reading-thread.ts";

/** Every kind of store. A store added here must pass all suites. */
const definitions = {
  fileStore: (folder: string) => fileStore({ dir: join(folder, "data") }),
  memoryStore: () => memoryStore(),
  postgresStore: async () => postgresStore({ url: await freshDatabase() }),
} satisfies Record<string, (folder: string) => StoreDefinition | Promise<StoreDefinition>>;

export const storeKinds = Object.keys(definitions) as (keyof typeof definitions)[];

const script = fileURLToPath(new URL("../../dist/test/store/reading-thread.js", import.meta.url));

/** Who makes all changes. */
export const principal = "eeeeeeee-0000-4000-8000-000000000000" as UserId;

export class StoreStage implements AsyncDisposable {
  readonly definition: StoreDefinition;
  readonly store: Store;
  readonly #folder: ReturnType<typeof temporaryFolder>;
  readonly #threads: Worker[] = [];

  static async open(kind: keyof typeof definitions): Promise<StoreStage> {
    const folder = temporaryFolder();
    return new StoreStage(await definitions[kind](folder.path), folder);
  }

  private constructor(definition: StoreDefinition, folder: ReturnType<typeof temporaryFolder>) {
    this.#folder = folder;
    this.definition = definition;
    this.store = this.definition.open(() => {});
  }

  /** The data folder of a store of files. */
  get dataDir(): string {
    return join(this.#folder.path, "data");
  }

  /** `answerReads` replaces the store's own. */
  startThread(answerReads = this.definition.answerReads): Worker {
    const thread = new Worker(script, { workerData: this.definition.location });
    thread.on("message", ({ bridgeTo }: { bridgeTo?: ReadBridge }) => {
      if (bridgeTo) answerReads?.(bridgeTo);
    });
    this.#threads.push(thread);
    return thread;
  }

  /** What a guest of a new call would read; from the shared stores if there is no user. */
  async ask(userId: string | null, ...questions: readonly Question[]): Promise<Answer[]> {
    return await this.#ask(this.#threads[0] ?? this.startThread(), userId, questions);
  }

  /** As `ask`, in a thread of its own. */
  async askAnother(userId: string, ...questions: readonly Question[]): Promise<Answer[]> {
    return await this.#ask(this.startThread(), userId, questions);
  }

  async #ask(thread: Worker, userId: string | null, questions: readonly Question[]): Promise<Answer[]> {
    if (this.definition.location.kind !== "postgres") return await askThread(thread, { userId, questions });
    // The database is asked for a hold, as every call has one.
    const asked = ({ handed }: Pick<HeldUser, "handed">): Promise<Answer[]> =>
      askThread(thread, { userId, questions, handed });
    if (userId !== null) return await this.hold(userId, asked, { writes: false });
    const ids = questions.flatMap(([, scope = ""]) => storeOfScope(scope) ?? []);
    return await this.holdStores(ids, asked, { writes: false });
  }

  hold<Result>(
    userId: string,
    work: (held: HeldUser) => Promise<Result>,
    options: Partial<HoldOptions> = {},
  ): Promise<Result> {
    const until = performance.now() + 30_000;
    return this.store.hold(userId as UserId, { writes: true, until, ...options }, work);
  }

  async commit(userId: string, changes: ChangeSet, seen: readonly Seen[] = []): Promise<void> {
    await this.hold(userId, (held) => held.commit(changes, seen));
  }

  holdStores<Result>(
    ids: readonly StoreId[],
    work: (held: HeldStores) => Promise<Result>,
    options: Partial<StoreHoldOptions> = {},
  ): Promise<Result> {
    const until = performance.now() + 30_000;
    return this.store.shared.hold(ids, { writes: true, until, ...options }, work);
  }

  /** Commits changes of the stores that they name. */
  async commitStores(changes: ChangeSet, more: Partial<StoreChanges> = {}): Promise<void> {
    const named = changes.flatMap(({ scope }) => storeOfScope(scope) ?? []);
    const ids = [...named, ...(more.grants?.keys() ?? [])];
    await this.holdStores(ids, (held) => held.commit({ by: principal, changes, seen: held.seen, ...more }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.terminate()));
    await this.store.close();
    this.#folder[Symbol.dispose]();
  }
}

export async function askThread(thread: Worker, order: Order): Promise<Answer[]> {
  thread.postMessage(order, []);
  for (;;) {
    const [message] = (await once(thread, "message")) as [{ answers?: Answer[] }];
    if (message.answers) return message.answers;
  }
}

export const write = (path: string, content: string | Uint8Array, scope = "memory"): ChangeSet[number] => ({
  kind: "write",
  scope,
  path,
  content,
});

export const trash = (path: string, trashed: string): ChangeSet[number] => ({
  kind: "trash",
  scope: "memory",
  path,
  trashed,
});

export const restore = (path: string, restored: string): ChangeSet[number] => ({
  kind: "restore",
  scope: "memory",
  path,
  restored,
});

export const remove = (path: string): ChangeSet[number] => ({ kind: "remove", scope: "memory", path });
