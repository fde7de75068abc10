import { isStoreId, ownStoreOf } from "../../values/ids.ts";
import type { UserId } from "../../values/ids.ts";
import { ToolError } from "../../values/tool-error.ts";
import { UserQueue, atOnce } from "../../values/turns.ts";
import type { FindAnswer } from "../bridge/answer-reads.ts";
import { answerReads } from "../bridge/answer-reads.ts";
import { defaultSettings } from "../definition.ts";
import type { StoreDefinition } from "../definition.ts";
import type { Engine, EngineCommit, EngineHome, EngineHomes } from "../engine.ts";
import { entriesScope, isOfEntries, keyOf, recordAt, recordPath, storeHome, userHome } from "../home.ts";
import type { Home } from "../home.ts";
import { planChanges } from "../plan-changes.ts";
import { checkedStore } from "../reading.ts";
import { HomeFiles } from "./home-files.ts";
import { MemoryHints } from "./memory-hints.ts";
import { MemoryHistory } from "./memory-history.ts";

/** All homes of one `memoryStore`, in the thread that created it. All runtimes with that store share this object. */
export class MemoryEngine implements Engine {
  /** Those of the runtime that has opened it last. */
  settings = defaultSettings;
  /** From their first commit on, by `keyOf`. */
  readonly #homes = new Map<string, MemoryHome>();
  readonly #queue = new UserQueue();
  readonly #hints = new MemoryHints();
  readonly #find = (home: Home): MemoryHome => this.#homes.get(keyOf(home)) ?? new MemoryHome(home, this.#hints);
  #commits = 0;

  readonly hold: Engine["hold"] = async (homes, _mode, { until, signal, onlyRead = [] }, work) => {
    const free = new Set(onlyRead.map(keyOf));
    const run = (): ReturnType<typeof work> => work(this.#held(homes, onlyRead));
    const inTurn = (kind: Home["kind"], then: typeof run): ReturnType<typeof work> => {
      const keys = homes.filter((home) => home.kind === kind && !free.has(keyOf(home))).map(keyOf);
      const what = kind === "store" ? "the store" : "the user's memory";
      const tooLong = (waitedMs: number): ToolError =>
        new ToolError("BUSY", `Cannot use ${what}: it has been in use for ${waitedMs} ms`);
      return this.#queue.runAll(keys, { until, signal, tooLong }, then);
    };
    return await inTurn("user", () => inTurn("store", run));
  };

  /** Answers a guest's read, while the call holds the home. */
  readonly answer: FindAnswer = ({ asked, userId, scope, path }) => {
    const [home, inside] = userId === null ? [storeHome(checkedStore(scope)), entriesScope] : [userHome(userId), scope];
    const { files } = this.#find(home);
    return asked === "scopeSize" ? files.scopeSize(inside) : files[asked](inside, path);
  };

  readonly homes: Engine["homes"] = async () => {
    const all = [...this.#homes.values()].filter((each) => each.has());
    return all.map(({ home: { kind, id }, owner }) => (kind === "store" ? { kind, id, owner } : { kind: "user", id }));
  };
  readonly hintsOf: Engine["hintsOf"] = async (principal) => this.#hints.list(principal);
  readonly mounts = [];
  readonly erased: Engine["erased"] = {
    list: nothing,
    removeFiles: nothing,
    forget: async ({ store, erasedMs }) => this.#hints.forget(store, erasedMs),
  };
  /** Other runtimes can use the data after it. */
  readonly close = async (): Promise<void> => {};

  /** Notes the homes' versions. Returns whether they are the same still. */
  #noted(homes: readonly Home[]): () => boolean {
    const noted = homes.map((home) => [home, this.#find(home).version] as const);
    return () => noted.every(([home, version]) => this.#find(home).version === version);
  }

  #held(homes: readonly Home[], onlyRead: readonly Home[]): EngineHomes {
    const held = new Map(homes.map((home) => [keyOf(home), this.#find(home)]));
    // The same object all the time, also of a home that a commit makes.
    const of = (home: Home): MemoryHome => held.get(keyOf(home)) ?? this.#find(home);
    return {
      of,
      handed: null,
      isAtomic: false,
      areReadStill: this.#noted(onlyRead),
      commit: async (parts, done) => {
        for (const part of parts) {
          this.#commit(of(part.home), part);
          done(part.home);
        }
      },
      erase: async (erasedMs) => {
        const own = homes.find((home) => home.kind === "store");
        if (own === undefined) throw new RangeError("Cannot erase a user without the own store");
        for (const home of homes) this.#homes.delete(keyOf(home));
        return { store: own.id, erasedMs, id: "" };
      },
    };
  }

  #commit(found: MemoryHome, commit: EngineCommit): void {
    const { home, by, changes, seen, grants } = commit;
    const planned = atOnce(planChanges(found.files, changes, seen));
    if (home.kind === "store" && grants) this.#hints.note(home.id, grants);
    // From here on nothing can fail. As nothing waits either, nobody sees a part of it.
    const versioned = planned.filter(({ scope }) => isOfEntries(home.kind, scope));
    found.past.add(versioned, commit, this.settings);
    found.files.apply(planned);
    for (const { kind, name, text } of commit.records) {
      if (home.kind === "store") {
        if (kind === "left" && isStoreId(name)) this.#hints.leave(home.id, name, text !== null);
      } else if (text === null) found.kept.delete(recordPath(kind, name));
      else found.kept.set(recordPath(kind, name), text);
    }
    if (by !== null && ownStoreOf(by) === home.id) found.owner = by;
    found.version = ++this.#commits;
    this.#homes.set(keyOf(home), found);
  }
}

/** A home, also one that is not there yet. */
class MemoryHome implements EngineHome {
  readonly home: Home;
  readonly #hints: MemoryHints;
  readonly files = new HomeFiles();
  readonly past = new MemoryHistory();
  readonly history = this.past.told;
  /** What the host keeps about a user, by path. It is apart from the files, so that no list has it. */
  readonly kept = new Map<string, string>();
  /** Of a store, from the owner's first commit on. */
  owner: UserId | null = null;
  /** Another one after each commit, also if the home was erased in between; 0 before the first. */
  version = 0;

  constructor(home: Home, hints: MemoryHints) {
    this.home = home;
    this.#hints = hints;
  }

  /** A user of whom only the host keeps something is not there. */
  readonly has = (): boolean => this.files.scopes().length > 0;
  readonly open = (): HomeFiles => this.files;
  readonly recordSizes: EngineHome["recordSizes"] = async (kind) => {
    if (this.home.kind === "store") return new Map(this.#hints.leftBy(this.home.id).map((each) => [each, 0]));
    const names = Array.from(this.kept.keys(), recordAt).flatMap((at) => (at?.kind === kind ? at.name : []));
    return new Map(
      names.toSorted().map((name) => [name, Buffer.byteLength(this.kept.get(recordPath(kind, name)) ?? "")]),
    );
  };
  readonly readRecord: EngineHome["readRecord"] = async (kind, name) => this.kept.get(recordPath(kind, name)) ?? null;
}

const nothing = async (): Promise<[]> => [];

/**
 * Keeps users' memory in this process only, for `createRuntime`. Use it to test a program that embeds memcell, or to
 * try things out. It creates no file and needs no folder.
 *
 * As with `fileStore`, users are kept apart, calls of one user run one after another, a change set is applied
 * completely or not at all, and the same limits apply. The data is in the thread that called this function, as long as
 * the returned object lives. Each call creates another memory; runtimes that get the same object share one. Closing a
 * runtime keeps the data. Nothing outlives the process, so nothing is durable. Nothing limits all users together.
 *
 * @example
 * const runtime = await createRuntime({ store: memoryStore() });
 */
export function memoryStore(...options: readonly never[]): StoreDefinition {
  if (options.length > 0) throw new TypeError("memoryStore keeps nothing on a disk and takes no options");
  const engine = new MemoryEngine();
  return {
    location: { kind: "memory" },
    answerReads: (bridge) => answerReads(engine.answer, bridge),
    open: (_note, settings = engine.settings) => Object.assign(engine, { settings }),
    holdsFile: () => false,
  };
}
