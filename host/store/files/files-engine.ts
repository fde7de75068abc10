/**
 * Keeps homes as Markdown files: `users/<folder>/<scope>/<path>` and `stores/<uuid>/entries/<path>` below the data folder,
 * with the host's own `.memcell/` beside the scopes. In a mounted folder, a file is at `<path>`, and `.memcell/` beside.
 */
import { readBootId } from "../../disk/boot-id.ts";
import type { DataRoot } from "../../disk/pinned-directory.ts";
import type { StoreId } from "../../values/ids.ts";
import { defaultSettings } from "../definition.ts";
import type { NoteOfUser, StoreSettings } from "../definition.ts";
import type { Engine, EngineHold, EngineHomes, FoundHome } from "../engine.ts";
import type { GrantHint } from "../grant-hints.ts";
import { commits, keyOf, storeHome, userHome } from "../home.ts";
import type { Home, Mode } from "../home.ts";
import type { StoreFinding } from "../reading.ts";
import { FileErasures } from "./erase-homes.ts";
import { listStores, listStrays, listUsers, ownerOf } from "./found-homes.ts";
import { GrantedHints } from "./granted-hints.ts";
import { HeldFiles } from "./held-files.ts";
import type { HeldPart } from "./held-files.ts";
import { fileHome } from "./home.ts";
import type { FileHome, FileMount } from "./home.ts";
import { Homes } from "./homes.ts";
import { versionsOf } from "./journal-version.ts";
import type { Versions } from "./journal-version.ts";
import type { KeptLimits } from "./kept-sessions.ts";
import { retireLeftOver } from "./left-over.ts";
import { removeStagedHomes } from "./load-home.ts";
import { lockOnly } from "./open-session.ts";
import { HomeFolder } from "./scope-folders.ts";
import type { Waiting } from "./session-place.ts";

export interface FilesSetup {
  readonly durability: "full" | "relaxed";
  readonly note: NoteOfUser;
  readonly mounts?: readonly FileMount[] | undefined;
  /** How sessions are kept for another call. Crash tests have limits of their own. */
  readonly kept?: KeptLimits | undefined;
  /** Default: `defaultSettings`. */
  readonly settings?: StoreSettings | undefined;
}

export class FilesEngine implements Engine {
  readonly mounts: readonly FileMount[];
  readonly erased: FileErasures;
  readonly #root: DataRoot;
  readonly #homes: Homes;
  readonly #hints: GrantedHints;
  readonly #note: (home: FileHome, text: string) => void;
  #leftOver: Promise<void> | null = null;
  readonly #closing = new AbortController();

  /** `boot` is the machine's boot id; crash tests pass another one. */
  constructor(root: DataRoot, setup: FilesSetup, boot: string | null = readBootId()) {
    const { durability, note, mounts = [], kept, settings = defaultSettings } = setup;
    const isFlushed = durability === "full";
    this.#root = root;
    this.mounts = mounts;
    this.#note = (home, text) =>
      note(home.owner, home.kind === "mount" ? `mounted scope "${home.scope}": ${text}` : text);
    this.#homes = new Homes({ isFlushed, boot, settings, note: this.#note, kept });
    this.#hints = new GrantedHints(root, isFlushed);
    this.erased = new FileErasures(root, this.#homes, this.#hints);
  }

  async hold<Result>(
    homes: readonly Home[],
    mode: Mode,
    options: EngineHold,
    work: (held: EngineHomes) => Promise<Result>,
  ): Promise<Result> {
    const all = homes.map((home) => this.#homeOf(home));
    if (mode === "erase") return await this.#holdToErase(all, options, work);
    if (mode === "thorough") for (const home of all) this.#homes.forget(home);
    const parts: HeldPart[] = [];
    let hasSucceeded = false;
    try {
      const read = await this.#lock(all, mode, options, parts);
      const together = { homes: this.#homes, hints: this.#hints, options, writes: commits(mode), read };
      const result = await work(new HeldFiles(parts, together));
      hasSucceeded = true;
      return result;
    } finally {
      for (const { home, session, lock } of parts) {
        lock?.[Symbol.dispose]();
        // After a failure, everything is looked at again.
        if (session !== null) this.#homes.release(session, hasSucceeded && home.kind !== "store");
      }
    }
  }

  #holdToErase<Result>(
    all: readonly FileHome[],
    options: EngineHold,
    work: (held: EngineHomes) => Promise<Result>,
  ): Promise<Result> {
    const parts = all.map((home) => ({ home, session: null }));
    const together = { homes: this.#homes, hints: this.#hints, options, writes: false, read: noVersions };
    return this.erased.hold(all, options, (erase) => work(new HeldFiles(parts, { ...together, erase })));
  }

  /** Adds to `parts` each home that it has locked. Of homes that are only read, notes the versions, and nobody waits for the work. */
  async #lock(
    all: readonly FileHome[],
    mode: Mode,
    { until, signal, isReadOnly = false, makesLocks = false, onlyRead = [], besides = [] }: EngineHold,
    parts: HeldPart[],
  ): Promise<Versions> {
    // Only who writes makes a lock file, and needs a disk that can be written.
    const makes = makesLocks || commits(mode);
    const waiting: Waiting = { make: makes, readOnlyWillDo: !makes, isReadOnly, until, signal };
    const beside: Waiting = besides.length === 0 ? waiting : { ...waiting, readOnlyWillDo: true };
    const toRead = onlyRead.length === 0 ? [] : all.filter((home) => isIn(onlyRead, home));
    const locked = toRead.length === 0 ? all : all.filter((home) => !toRead.includes(home));
    for (const home of locked) {
      if (home.kind !== "store") parts.push(await this.#take(home, mode, isIn(besides, home) ? beside : waiting));
    }
    // This can take a lock for a moment, so it comes before those of stores.
    const ways = { ...waiting, make: false, readOnlyWillDo: true };
    const read = toRead.length === 0 ? noVersions : await versionsOf(this.#homes, toRead, ways);
    parts.push(...partsOf(read));
    for (const home of locked) if (home.kind === "store") parts.push(await this.#take(home, mode, waiting));
    return read;
  }

  async #take(home: FileHome, mode: Mode, waiting: Waiting): Promise<HeldPart> {
    if (mode === "look") {
      this.#homes.letGo(home);
      return { home, session: null, lock: await lockOnly(home, waiting) };
    }
    if (waiting.isReadOnly) {
      const lock = await this.#homes.lockFinished(home, waiting);
      return { home, session: null, lock, tail: lock?.tail, ...(!lock?.isLocked && ifStill(home)) };
    }
    // A crash during a first commit can leave the host's own folder without its lock file. Writing calls make one and
    // clean up under it.
    const session = await this.#homes.resume(home, waiting, mode === "thorough");
    return { home, session, ...(session === null && ifStill(home)) };
  }

  async homes(): Promise<FoundHome[]> {
    const root = this.#root;
    return [
      ...listUsers(root).map((id): FoundHome => ({ kind: "user", id })),
      ...listStores(root).map((id): FoundHome => ({ kind: "store", id, owner: ownerOf(root, id) })),
    ];
  }

  async strays(): Promise<StoreFinding[]> {
    return [...listStrays(this.#root), ...(await this.erased.findings())];
  }

  async hintsOf(principal: StoreId): Promise<GrantHint[]> {
    return this.#hints.list(principal);
  }

  async leaving(): Promise<StoreId[]> {
    return this.#hints.leaving();
  }

  retireLeftOver(): Promise<void> {
    this.#leftOver ??= this.#retireLeftOver();
    return this.#leftOver;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#leftOver;
    await this.#homes.close();
  }

  async #retireLeftOver(): Promise<void> {
    const { signal } = this.#closing;
    const lists: (() => readonly Home[])[] = [
      () => this.mounts,
      () => listUsers(this.#root).map(userHome),
      () => listStores(this.#root).map(storeHome),
    ];
    for (const list of lists) {
      const all = orNone(list).map((home) => this.#homeOf(home));
      await retireLeftOver(all, { retire: (...asked) => this.#homes.retire(...asked), note: this.#note }, signal);
    }
    // What cannot be removed now is, at the next start.
    if (!signal.aborted) await removeStagedHomes(this.#root).catch(() => {});
  }

  #homeOf(home: Home): FileHome {
    if (home.kind !== "mount") {
      const found = fileHome(home, this.#root);
      this.#homes.dropOther(found);
      return found;
    }
    const mount = this.mounts.find(({ key }) => key === keyOf(home));
    if (mount === undefined) throw new RangeError(`No folder is mounted as "${home.scope}"`);
    return mount;
  }
}

/** What cannot be listed, the first call reports. */
function orNone(list: () => readonly Home[]): readonly Home[] {
  try {
    return list();
  } catch {
    return [];
  }
}

const noVersions: Versions = new Map();

const isIn = (homes: readonly Home[], { key }: FileHome): boolean => homes.some((each) => keyOf(each) === key);

const partsOf = (versions: Versions): HeldPart[] =>
  Array.from(versions.values(), ({ home, version }) => ({ home, session: null, tail: version.tail }));

/** Notes a home's folder, if there is one, and tells whether it is the same still. Of a store, its version shows that. */
function ifStill(home: FileHome): Pick<HeldPart, "isStill"> {
  if (home.kind === "store") return {};
  const identity = (): string | null => {
    using folder = HomeFolder.open(home);
    return folder?.home.identity ?? null;
  };
  const noted = identity();
  return { isStill: () => identity() === noted };
}
