/** An opened store of each engine, with a thread that reads it. The suites use only its interface. */
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";

import { afterAll } from "vitest";

import { fileStore, memoryStore, openEngine, postgresStore } from "../stage/open-store.ts";
import { modeOf, scopeOfStore, storeHome, storeOfScope, userHome } from "../stage/store.ts";
import type {
  Change,
  ChangeSet,
  CommitFacts,
  HeldHistory,
  HeldReader,
  HeldStores,
  HeldUser,
  HoldOptions,
  HomeCommit,
  NewGrants,
  OpenedStore,
  ReadBridge,
  ScopeSize,
  Seen,
  StoreDefinition,
  StoreFinding,
  StoreGrant,
  StoreHoldOptions,
  StoreId,
  UserId,
} from "../stage/store.ts";
import { freshDatabase } from "../support/postgres/fresh-database.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { userFolder } from "../support/user-files.ts";
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
  readonly store: OpenedStore;
  readonly #folder: ReturnType<typeof temporaryFolder>;
  readonly #threads: Worker[] = [];
  #asked: Worker | null = null;

  static async open(kind: StoreKind): Promise<StoreStage> {
    const folder = temporaryFolder();
    return new StoreStage(kind, await definitions[kind](folder.path), folder);
  }

  private constructor(
    kind: StoreKind,
    definition: StoreDefinition,
    folder: ReturnType<typeof temporaryFolder>,
    isReadOnly = false,
  ) {
    this.kind = kind;
    this.#folder = folder;
    this.definition = definition;
    this.store = openEngine(
      definition.open(() => {}),
      isReadOnly,
    );
  }

  /** Another opening of the same store, as another process has it. The caller closes its store. */
  openBeside({ isReadOnly = false } = {}): StoreStage {
    return new StoreStage(this.kind, this.definition, this.#folder, isReadOnly);
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
    return this.store.holdUser(userId as UserId, { ...soon(), ...options }, work);
  }

  async commit(userId: string, changes: ChangeSet, seen: readonly Seen[] = []): Promise<void> {
    await this.hold(userId, (held) => held.commit(changes, seen));
  }

  holdStores<Result>(
    ids: readonly StoreId[],
    work: (held: HeldStores) => Promise<Result>,
    options: Partial<StoreHoldOptions> = {},
  ): Promise<Result> {
    return this.store.holdStores(ids, { ...soon(), ...options }, work);
  }

  /** Commits changes of the stores that they name. */
  async commitStores(changes: ChangeSet, more: Partial<ManyChanges> = {}): Promise<void> {
    const named = changes.flatMap(({ scope }) => storeOfScope(scope) ?? []);
    await this.holdStores([...named, ...(more.of ?? [])], (held) => commitIn(held, changes, more));
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

interface ManyChanges extends HomeCommit {
  /** Whose the grants are. */
  readonly of?: readonly StoreId[];
}

/** Commits changes of held stores, one after the other, in the order in which they are named first. */
export async function commitIn(
  held: HeldStores,
  changes: ChangeSet,
  { of = [], grants, ...more }: Partial<ManyChanges> = {},
): Promise<void> {
  const ids = [...changes.flatMap(({ scope }) => storeOfScope(scope) ?? []), ...of];
  for (const id of new Set(ids)) {
    const ofStore = changes.filter(({ scope }) => scope === scopeOfStore(id));
    const granted = of.includes(id) ? { grants } : {};
    await held.commit(id, { by: principal, seen: held.seen, ...more, ...granted, changes: ofStore });
  }
}

/** A home is what is held, read and committed as one: a user's folder or a shared store. */
export type HomeKind = "user" | "store";

/** What a hold of a home has. Steps name its scope `memory`, and it is that of the home. */
export interface HeldHome {
  readonly reader: HeldReader;
  readonly history: HeldHistory;
  /** What its reader has read so far. */
  readonly seen: readonly Seen[];
  /** What is still known of the size of its scope. */
  readonly known: Partial<ScopeSize> | undefined;
  commit(steps: ChangeSet, seen?: readonly Seen[], more?: CommitFacts): Promise<void>;
  readonly findings: () => Promise<StoreFinding[]>;
}

/** Who makes all changes of shared stores. */
export const principal = "eeeeeeee-0000-4000-8000-000000000000" as UserId;

let made = 0;

export class Home {
  readonly kind: HomeKind;
  readonly stage: StoreStage;
  readonly id: string;
  readonly scope: string;
  /** Its scope, as its folder and its journal name it. */
  readonly inside: "memory" | "entries";

  /** By default one that no other test has. */
  constructor(stage: StoreStage, kind: HomeKind, id = kind === "user" ? `user-${++made}` : newStoreId()) {
    this.stage = stage;
    this.kind = kind;
    this.id = id;
    this.scope = kind === "user" ? "memory" : scopeOfStore(id);
    this.inside = kind === "user" ? "memory" : "entries";
  }

  /** In the data folder of a store of files. */
  get folder(): string {
    return this.kind === "user" ? userFolder(this.stage.dataDir, this.id) : join(this.stage.dataDir, "stores", this.id);
  }

  async hold<Result>(
    work: (held: HeldHome) => Promise<Result>,
    options: Partial<HoldOptions> = {},
    stage = this.stage,
  ): Promise<Result> {
    const home = this.kind === "user" ? userHome(this.id as UserId) : storeHome(this.id as StoreId);
    const asked = { ...soon(), ...options };
    return await stage.store.hold([home], modeOf(asked), asked, (all) => {
      const held = all.of(home);
      return work({
        reader: held,
        history: held.history,
        get seen() {
          return held.seen;
        },
        known: held.knownSizes[this.scope],
        commit: (steps, seen = held.seen, more = {}) =>
          held.commit({ by: principal, changes: this.#own(steps), seen, ...more }),
        findings: () => held.findings(),
      });
    });
  }

  #own(steps: ChangeSet): ChangeSet {
    return steps.map((step) => (step.scope === "memory" ? Object.assign({}, step, { scope: this.scope }) : step));
  }

  async commit(steps: ChangeSet, seen?: readonly Seen[], more?: CommitFacts): Promise<void> {
    await this.hold((held) => held.commit(steps, seen, more));
  }

  /** As a guest of a new call reads it. */
  async ask(...questions: readonly Question[]): Promise<Answer[]> {
    const own = questions.map((question) =>
      question.map((part, at) => (at === 1 && part === "memory" ? this.scope : part)),
    );
    return await this.stage.ask(this.kind === "user" ? this.id : null, ...(own as unknown as Question[]));
  }

  /** The texts of all of its files, by path. */
  async files(): Promise<Record<string, string>> {
    return await this.hold(
      async ({ reader }) => {
        const { files } = await reader.survey(this.scope);
        const texts = files.map(async ({ path }) => [path, await textIn(reader, this.scope, path)]);
        return Object.fromEntries(await Promise.all(texts)) as Record<string, string>;
      },
      { writes: false },
    );
  }

  async text(path: string): Promise<string | null> {
    return await this.hold(({ reader }) => textIn(reader, this.scope, path), { writes: false });
  }

  /** Whether anybody has ever committed to it. */
  async exists(): Promise<boolean> {
    const { store } = this.stage;
    const ids: readonly string[] = this.kind === "user" ? await store.users() : await store.stores();
    return ids.includes(this.id);
  }
}

export async function textIn(reader: HeldReader, scope: string, path: string): Promise<string | null> {
  const bytes = await reader.bytesOf(scope, path);
  return bytes && Buffer.from(bytes).toString();
}

/** The contents of all versions of each file, the oldest first; `null` if it was removed or the content is not kept. */
export async function contentsOf(history: HeldHistory): Promise<Record<string, (string | null)[]>> {
  const contents: Record<string, (string | null)[]> = {};
  for (const { path, sha256 } of (await history.versions()).flatMap(({ files }) => files)) {
    const content = sha256 === null ? null : ((await history.contentsOf([sha256])).get(sha256) ?? null);
    (contents[path] ??= []).push(content && Buffer.from(content).toString());
  }
  return contents;
}

/** The id of a store that no other test has. */
export const newStoreId = (): StoreId => storeAt(700_000 + ++made);

export const storeAt = (at: number): StoreId => `${String(at).padStart(8, "0")}-1111-4111-8111-111111111111` as StoreId;

/** One store of each engine for all tests of a file. Each test has homes of its own. */
export async function openEngines(): Promise<StoreStage[]> {
  const stages = await Promise.all((Object.keys(definitions) as StoreKind[]).map((kind) => StoreStage.open(kind)));
  afterAll(async () => void (await Promise.all(stages.map((stage) => stage[Symbol.asyncDispose]()))));
  return stages;
}

/** Each kind of home in each engine, for `describe.each`. `newHome` makes one that no other test has. */
export const homesIn = (stages: readonly StoreStage[]) =>
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
export const [storeA, storeB] = [1, 2].map(storeAt) as [StoreId, StoreId];

export const writeIn = (id: StoreId, path: string, content: string): Change => write(path, content, scopeOfStore(id));

/** New grants of one store, for `commitIn`. */
export const granting = (
  id: StoreId,
  content: string,
  grants: Partial<NewGrants> = {},
): Pick<ManyChanges, "of" | "grants"> => ({ of: [id], grants: { content, granted: [], nowMs: 0, ...grants } });

/** A grant without end, by default. */
export const to = (grantee: StoreId, grantedMs = 1, expiresMs: number | null = null): StoreGrant => ({
  grantee,
  level: "read",
  grantedMs,
  expiresMs,
});

export const textOf = (held: HeldStores, id: StoreId, path: string): Promise<string | null> =>
  textIn(held.reader(id), "entries", path);

export async function grantsOf(held: HeldStores, id: StoreId): Promise<string | null> {
  const bytes = await held.grants(id);
  return bytes && Buffer.from(bytes).toString();
}
