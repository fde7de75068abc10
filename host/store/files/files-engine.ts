/**
 * Keeps homes as Markdown files: `users/<folder>/<scope>/<path>` and `stores/<uuid>/entries/<path>` below the data folder,
 * with the host's own `.memcell/` beside the scopes. In a mounted folder, a file is at `<path>`, and `.memcell/` beside.
 */
import { readBootId } from "../../disk/boot-id.ts";
import type { DataRoot } from "../../disk/pinned-directory.ts";
import type { StoreId } from "../../values/ids.ts";
import { defaultSettings } from "../definition.ts";
import type { NoteOfUser, StoreSettings } from "../definition.ts";
import { onSnapshot } from "../engine.ts";
import type { Engine, EngineHold, EngineHomes, FoundHome } from "../engine.ts";
import type { GrantHint } from "../grant-hints.ts";
import { commits, keyOf, storeHome, userHome } from "../home.ts";
import type { Home, Mode, MountHome } from "../home.ts";
import type { StoreFinding } from "../reading.ts";
import { removeStagedHomes } from "./copy/write-home.ts";
import { FileErasures } from "./erase-homes.ts";
import { listStores, listStrays, listUsers, ownerOf } from "./found-homes.ts";
import { GrantedHints } from "./granted-hints.ts";
import { HeldFiles } from "./held-files.ts";
import type { HeldPart } from "./held-files.ts";
import { fileHome, mountHome } from "./home.ts";
import type { FileHome, MountRoot } from "./home.ts";
import { Homes } from "./homes.ts";
import type { KeptLimits } from "./idle-homes.ts";
import { retireLeftOver } from "./left-over.ts";
import { HomeFolder } from "./scope-folders.ts";
import type { Waiting } from "./session-place.ts";
import { areStill, versionsOf } from "./wal-version.ts";
import type { Versions } from "./wal-version.ts";

export interface FilesSetup {
  readonly durability: "full" | "relaxed";
  readonly note: NoteOfUser;
  readonly mounts?: readonly MountRoot[] | undefined;
  /** How sessions are kept for another call. Crash tests have limits of their own. */
  readonly kept?: KeptLimits | undefined;
  /** Default: `defaultSettings`. */
  readonly settings?: StoreSettings | undefined;
}

interface Hold {
  readonly mode: Mode;
  readonly options: EngineHold;
  readonly waiting: Waiting;
}

export class FilesEngine implements Engine {
  readonly mounts: readonly MountHome[];
  readonly erased: FileErasures;
  readonly #root: DataRoot;
  /** By the keys of their homes. */
  readonly #mountRoots: ReadonlyMap<string, DataRoot>;
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
    this.mounts = mounts.map(mountHome);
    this.#mountRoots = new Map(mounts.map((mount) => [keyOf(mountHome(mount)), mount.root]));
    this.#note = ({ owner, mountedScope }, text) =>
      note(owner, mountedScope === null ? text : `mounted scope "${mountedScope}": ${text}`);
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
    const writes = commits(mode);
    const together = { homes: this.#homes, hints: this.#hints, options, writes };
    if (mode === "erase") {
      const parts = all.map((home) => ({ home, session: null }));
      return await this.erased.hold(all, options, (erase) =>
        work(new HeldFiles(parts, { ...together, read: noVersions, erase })),
      );
    }
    if (mode === "thorough") for (const home of all) this.#homes.forget(home);
    const { until, signal, isReadOnly = false } = options;
    // Only who writes makes a lock file, and needs a disk that can be written.
    const waiting = { make: writes, readOnlyWillDo: !writes, isReadOnly, until, signal };
    return await this.#underLocks(all, { mode, options, waiting }, (parts, read) =>
      new HeldFiles(parts, { ...together, read }).run(work),
    );
  }

  /** Users' homes come first. Of stores that are only read, the versions are noted, and nobody waits for the work. */
  async #underLocks<Result>(
    all: readonly FileHome[],
    hold: Hold,
    run: (parts: readonly HeldPart[], read: Versions) => Promise<Result>,
  ): Promise<Result> {
    const { mode, options } = hold;
    const onlyRead = new Set(commits(mode) ? options.onlyRead?.map(keyOf) : []);
    const stores = all.filter(({ kind, key }) => kind === "store" && !onlyRead.has(key));
    const beside = { ...hold, waiting: { ...hold.waiting, readOnlyWillDo: true } };
    const toRead = { ...beside.waiting, make: false };
    const noted = async (some: readonly FileHome[]): Promise<Versions> =>
      some.length === 0 ? noVersions : await versionsOf(this.#homes, some, toRead);
    const parts: HeldPart[] = [];
    let hasSucceeded = false;
    try {
      const besides = new Set(options.besides?.map(keyOf));
      for (const home of all) {
        if (home.kind === "store" || onlyRead.has(home.key)) continue;
        parts.push(await this.#take(home, besides.has(home.key) ? beside : hold));
      }
      const read = await noted(all.filter(({ key }) => onlyRead.has(key)));
      parts.push(...partsOf(read));
      const locked = async (): Promise<Result> => {
        for (const home of stores) parts.push(await this.#take(home, hold));
        return await run(parts, read);
      };
      let versions = noVersions;
      const note = async (): Promise<() => boolean> => {
        versions = await noted(stores);
        return () => areStill(versions);
      };
      const work = (): Promise<Result> => run([...parts, ...partsOf(versions)], read);
      const isLocked = mode !== "read" || stores.length === 0;
      const result = isLocked ? await locked() : await onSnapshot(options, { note, work, locked });
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

  async #take(home: FileHome, { mode, waiting }: Hold): Promise<HeldPart> {
    if (mode === "look") return { home, session: null, lock: await this.#homes.lockOnly(home, waiting) };
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

  retireLeftOver(): Promise<void> {
    this.#leftOver ??= this.#retireLeftOver();
    return this.#leftOver;
  }

  watch(): () => void {
    return () => {};
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
      await retireLeftOver(this.#homes, all, this.#note, signal);
    }
    // What cannot be removed now is, at the next start.
    if (!signal.aborted) await removeStagedHomes(this.#root).catch(() => {});
  }

  #homeOf(home: Home): FileHome {
    if (home.kind !== "mount") return fileHome(home, this.#root);
    const root = this.#mountRoots.get(keyOf(home));
    if (root === undefined) throw new RangeError(`No folder is mounted as "${home.scope}"`);
    return fileHome(home, root);
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

const partsOf = (versions: Versions): HeldPart[] =>
  Array.from(versions.values(), ({ home, version }) => ({ home, session: null, tail: version.wal }));

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
