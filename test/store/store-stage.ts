/** An opened store of each engine, with a thread that reads it. The suites use only its interface. */
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";

import { fileStore, memoryStore, postgresStore } from "memcell";
import type { StoreDefinition } from "memcell";
import { afterAll } from "vitest";

import { scopeOfStore, storeOfScope } from "../stage/store.ts";
import type {
  Change,
  ChangeSet,
  HeldStores,
  HeldUser,
  HoldOptions,
  NewGrants,
  ReadBridge,
  Seen,
  Store,
  StoreChanges,
  StoreGrant,
  StoreHoldOptions,
  StoreId,
  UserId,
} from "../stage/store.ts";
import { freshDatabase } from "../support/postgres/fresh-database.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { Home, principal, storeAt, textIn } from "./home.ts";
import type { HomeKind } from "./home.ts";
import type { Answer, Order, Question } from "./reading-thread.ts";

/** Every kind of store. A store added here must pass all suites. */
const definitions = {
  fileStore: (folder: string) => fileStore({ dir: join(folder, "data") }),
  memoryStore: () => memoryStore(),
  postgresStore: async () => postgresStore({ url: await freshDatabase() }),
} satisfies Record<string, (folder: string) => StoreDefinition | Promise<StoreDefinition>>;

type StoreKind = keyof typeof definitions;

const script = fileURLToPath(new URL("../../dist/test/store/reading-thread.js", import.meta.url));

export class StoreStage implements AsyncDisposable {
  readonly kind: StoreKind;
  readonly definition: StoreDefinition;
  readonly store: Store;
  readonly #folder: ReturnType<typeof temporaryFolder>;
  readonly #threads: Worker[] = [];
  #asked: Worker | null = null;

  static async open(kind: StoreKind): Promise<StoreStage> {
    const folder = temporaryFolder();
    return new StoreStage(kind, await definitions[kind](folder.path), folder);
  }

  private constructor(kind: StoreKind, definition: StoreDefinition, folder: ReturnType<typeof temporaryFolder>) {
    this.kind = kind;
    this.#folder = folder;
    this.definition = definition;
    this.store = this.definition.open(() => {});
  }

  /** Another opening of the same store, as another process has it. The caller closes its store. */
  openBeside(): StoreStage {
    return new StoreStage(this.kind, this.definition, this.#folder);
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
    return await this.#ask((this.#asked ??= this.startThread()), userId, questions);
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
    return this.store.hold(userId as UserId, { ...soon(), ...options }, work);
  }

  async commit(userId: string, changes: ChangeSet, seen: readonly Seen[] = []): Promise<void> {
    await this.hold(userId, (held) => held.commit(changes, seen));
  }

  holdStores<Result>(
    ids: readonly StoreId[],
    work: (held: HeldStores) => Promise<Result>,
    options: Partial<StoreHoldOptions> = {},
  ): Promise<Result> {
    return this.store.shared.hold(ids, { ...soon(), ...options }, work);
  }

  /** Commits changes of the stores that they name. */
  async commitStores(changes: ChangeSet, more: Partial<StoreChanges> = {}): Promise<void> {
    const named = changes.flatMap(({ scope }) => storeOfScope(scope) ?? []);
    const ids = [...named, ...(more.grants?.keys() ?? [])];
    await this.holdStores(ids, (held) => held.commit({ by: principal, changes, seen: held.seen, ...more }));
  }

  /** All entries of some stores, by `<the store's place>/<path>`. */
  async entriesOf(...ids: readonly StoreId[]): Promise<Record<string, string>> {
    const found = ids.map(async (id, at) => {
      const files = Object.entries(await new Home(this, "store", id).files());
      return files.map(([path, text]) => [`${at + 1}/${path}`, text] as const);
    });
    return Object.fromEntries((await Promise.all(found)).flat());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.terminate()));
    await this.store.close();
    this.#folder[Symbol.dispose]();
  }
}

/** One store of each engine for all tests of a file. Each test has homes of its own. */
export async function openEngines(): Promise<StoreStage[]> {
  const stages = await Promise.all((Object.keys(definitions) as StoreKind[]).map((kind) => StoreStage.open(kind)));
  afterAll(async () => void (await Promise.all(stages.map((stage) => stage[Symbol.asyncDispose]()))));
  return stages;
}

export interface HomeRow {
  readonly name: string;
  readonly stage: StoreStage;
  readonly kind: HomeKind;
  /** A home that no other test has. */
  readonly newHome: () => Home;
}

/** Each kind of home in each engine, for `describe.each`. */
export const homesIn = (stages: readonly StoreStage[]): HomeRow[] =>
  stages.flatMap((stage) =>
    (["user", "store"] as const).map((kind) => ({
      name: `a ${kind} in a ${stage.kind}`,
      stage,
      kind,
      newHome: () => new Home(stage, kind),
    })),
  );

export const soon = (ms = 30_000): { writes: true; until: number } => ({ writes: true, until: performance.now() + ms });

export const nextTurn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

export async function askThread(thread: Worker, order: Order): Promise<Answer[]> {
  thread.postMessage(order, []);
  for (;;) {
    const [message] = (await once(thread, "message")) as [{ answers?: Answer[] }];
    if (message.answers) return message.answers;
  }
}

export const write = (path: string, content: string | Uint8Array, scope = "memory"): Change => ({
  kind: "write",
  scope,
  path,
  content,
});

export const trash = (path: string, trashed: string, scope = "memory"): Change => ({
  kind: "trash",
  scope,
  path,
  trashed,
});

export const restore = (path: string, restored: string): Change => ({
  kind: "restore",
  scope: "memory",
  path,
  restored,
});

export const remove = (path: string, scope = "memory"): Change => ({ kind: "remove", scope, path });

/** Shared stores, in the order of their ids. */
export const [storeA, storeB, storeC] = [1, 2, 3].map(storeAt) as [StoreId, StoreId, StoreId];

export const writeIn = (id: StoreId, path: string, content: string): Change => write(path, content, scopeOfStore(id));

/** New grants of one store. */
export const granting = (id: StoreId, content: string, grants: Partial<NewGrants> = {}): Map<StoreId, NewGrants> =>
  new Map([[id, { content, granted: [], nowMs: 0, ...grants }]]);

/** A grant without end, by default. */
export const to = (grantee: StoreId, grantedMs = 1, expiresMs: number | null = null): StoreGrant => ({
  grantee,
  level: "read",
  grantedMs,
  expiresMs,
});

export const textOf = (held: HeldStores, id: StoreId, path: string): Promise<string | null> =>
  textIn(held.reader(id), "entries", path);

export const grantsOf = (held: HeldStores, id: StoreId): Promise<string | null> =>
  textIn(held.reader(id), "grants", "grants.json");
