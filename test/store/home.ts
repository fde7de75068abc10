/** A home is what is held, read and committed as one: a user's folder or a shared store. Suites use both in the same way. */
import { join } from "node:path";

import { scopeOfStore } from "../stage/store.ts";
import type {
  ChangeSet,
  CommitFacts,
  HeldHistory,
  HeldReader,
  HeldStores,
  HeldUser,
  HoldOptions,
  ScopeSize,
  Seen,
  Store,
  StoreFinding,
  StoreId,
  UserId,
} from "../stage/store.ts";
import { userFolder } from "../support/user-files.ts";
import type { Answer, Question } from "./reading-thread.ts";

export type HomeKind = "user" | "store";

/** The opened store that has a home. */
export interface HomeEngine {
  readonly store: Store;
  readonly dataDir: string;
  hold<Result>(
    userId: string,
    work: (held: HeldUser) => Promise<Result>,
    options?: Partial<HoldOptions>,
  ): Promise<Result>;
  holdStores<Result>(
    ids: readonly StoreId[],
    work: (held: HeldStores) => Promise<Result>,
    options?: Partial<HoldOptions>,
  ): Promise<Result>;
  ask(userId: string | null, ...questions: readonly Question[]): Promise<Answer[]>;
}

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
  readonly stage: HomeEngine;
  readonly id: string;
  /** Its scope, as its reader names it. */
  readonly scope: "memory" | "entries";
  /** Its scope, as guests and changes name it. */
  readonly named: string;

  /** By default one that no other test has. */
  constructor(stage: HomeEngine, kind: HomeKind, id = kind === "user" ? `user-${++made}` : newStoreId()) {
    this.stage = stage;
    this.kind = kind;
    this.id = id;
    this.scope = kind === "user" ? "memory" : "entries";
    this.named = kind === "user" ? "memory" : scopeOfStore(id);
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
    if (this.kind === "user") return await stage.hold(this.id, (held) => work(this.#ofUser(held)), options);
    const id = this.id as StoreId;
    return await stage.holdStores(
      [id],
      (held) =>
        work({
          reader: held.reader(id),
          history: held.history(id),
          get seen() {
            return held.seen;
          },
          known: held.knownSizes[this.named],
          commit: (steps, seen = held.seen, { knownSizes, facts, kind } = {}) =>
            held.commit({
              by: principal,
              changes: this.#own(steps),
              seen,
              facts,
              kind,
              ...(knownSizes && { knownSizes }),
            }),
          findings: () => held.findings(id),
        }),
      options,
    );
  }

  #ofUser(held: HeldUser): HeldHome {
    return {
      reader: held.reader,
      history: held.history,
      get seen() {
        return held.reader.seen;
      },
      known: held.knownSizes["memory"],
      commit: (steps, seen = held.reader.seen, more = {}) => held.commit(steps, seen, more),
      findings: () => held.findings(),
    };
  }

  #own(steps: ChangeSet): ChangeSet {
    return steps.map((step) => (step.scope === "memory" ? Object.assign({}, step, { scope: this.named }) : step));
  }

  async commit(steps: ChangeSet, seen?: readonly Seen[], more?: CommitFacts): Promise<void> {
    await this.hold((held) => held.commit(steps, seen, more));
  }

  /** As a guest of a new call reads it. */
  async ask(...questions: readonly Question[]): Promise<Answer[]> {
    const own = questions.map((question) =>
      question.map((part, at) => (at === 1 && part === "memory" ? this.named : part)),
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
    const ids: readonly string[] = this.kind === "user" ? await store.users() : await store.shared.ids();
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
