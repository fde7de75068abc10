/**
 * Keeps homes as Markdown files: `users/<folder>/<scope>/<path>` and `stores/<uuid>/entries/<path>` below the data folder,
 * with the host's own `.memcell/` beside the scopes. In a mounted folder, a file is at `<path>`, and `.memcell/` beside.
 */
import { setImmediate } from "node:timers/promises";

import { readBootId } from "../../disk/boot-id.ts";
import type { DataRoot } from "../../disk/data-root.ts";
import type { StoreId } from "../../values/store-id.ts";
import { ToolError } from "../../values/tool-error.ts";
import type { MountLocation, NoteOfUser } from "../definition.ts";
import type { Engine, EngineHold, EngineHomes, FoundHome } from "../engine.ts";
import type { GrantHint } from "../grant-hints.ts";
import type { StoreFinding } from "../holding.ts";
import { commits, keyOf, storeHome, userHome } from "../home.ts";
import type { Home, Mode, MountHome } from "../home.ts";
import { onSnapshot } from "../snapshot.ts";
import { defaultSettings } from "../store-settings.ts";
import type { StoreSettings } from "../store-settings.ts";
import { recordsStart, walFile } from "./commit/wal-format.ts";
import { removeStagedHomes } from "./copy/staged-home.ts";
import { FileErasures } from "./erase-homes.ts";
import { listStores, listUsers, ownerOf, strayFolders, strayStores } from "./found-homes.ts";
import { GrantedHints } from "./granted-hints.ts";
import { HeldFiles } from "./held-files.ts";
import type { HeldPart, HeldTogether } from "./held-files.ts";
import { HomeFolder } from "./home-folder.ts";
import { fileHome } from "./home.ts";
import type { FileHome } from "./home.ts";
import { Homes } from "./homes.ts";
import type { KeptLimits } from "./kept-sessions.ts";
import type { Waiting } from "./open-session.ts";
import { areStill, versionsOf } from "./wal-version.ts";
import type { Versions } from "./wal-version.ts";

/** A folder that stands for one scope of a user. */
export interface MountRoot extends Pick<MountLocation, "userId" | "scope"> {
  readonly root: DataRoot;
}

export const mountHome = ({ userId, scope }: MountRoot): MountHome => ({ kind: "mount", id: userId, scope });

export interface FilesSetup {
  readonly durability: "full" | "relaxed";
  readonly note: NoteOfUser;
  readonly mounts?: readonly MountRoot[] | undefined;
  /** How sessions are kept for another call. Crash tests have limits of their own. */
  readonly kept?: KeptLimits | undefined;
  /** Default: `defaultSettings`. */
  readonly settings?: StoreSettings | undefined;
}

type Work<Result> = (held: EngineHomes) => Promise<Result>;

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
    this.erased = new FileErasures(root, this.#homes);
  }

  async hold<Result>(homes: readonly Home[], mode: Mode, options: EngineHold, work: Work<Result>): Promise<Result> {
    const all = homes.map((home) => this.#homeOf(home));
    const together = { homes: this.#homes, hints: this.#hints, options, writes: commits(mode) };
    if (mode === "erase") {
      const unlocked = all.map((home) => ({ home, session: null }));
      const held = (erase: HeldTogether["erase"] & {}): HeldFiles =>
        new HeldFiles(unlocked, { ...together, read: new Map(), erase });
      return await this.erased.hold(all, options, (erase) => work(held(erase)));
    }
    if (mode === "thorough") for (const home of all) this.#homes.forget(home);
    const { until, signal, isReadOnly = false } = options;
    // Only who writes makes a lock file, and needs a disk that can be written.
    const waiting = { make: together.writes, readOnlyWillDo: !together.writes, isReadOnly, until, signal };
    const run = (parts: readonly HeldPart[], read: Versions): Promise<Result> =>
      new HeldFiles(parts, { ...together, read }).run(work);
    return await this.#underLocks(all, { mode, options, waiting }, run);
  }

  /** Users' homes come first. Of stores that are only read, the versions are noted, and nobody waits for the work. */
  async #underLocks<Result>(
    all: readonly FileHome[],
    hold: Hold,
    run: (parts: readonly HeldPart[], read: Versions) => Promise<Result>,
  ): Promise<Result> {
    const { mode, options, waiting } = hold;
    const onlyRead = new Set(commits(mode) ? options.onlyRead?.map(keyOf) : []);
    const locked = all.filter(({ key }) => !onlyRead.has(key));
    const stores = locked.filter(({ kind }) => kind === "store");
    const parts: HeldPart[] = [];
    let hasSucceeded = false;
    try {
      const besides = new Set(options.besides?.map(keyOf));
      const beside = { ...hold, waiting: { ...waiting, readOnlyWillDo: true } };
      for (const home of locked) {
        if (home.kind !== "store") parts.push(await this.#take(home, besides.has(home.key) ? beside : hold));
      }
      const toRead = { ...waiting, make: false, readOnlyWillDo: true };
      const noted = async (some: readonly FileHome[]): Promise<Versions> =>
        some.length === 0 ? noVersions : await versionsOf(this.#homes, some, toRead);
      const read = await noted(all.filter(({ key }) => onlyRead.has(key)));
      parts.push(...partsOf(read));
      const withStores = async (): Promise<Result> => {
        for (const home of stores) parts.push(await this.#take(home, hold));
        return await run(parts, read);
      };
      let versions: Versions;
      const result =
        mode !== "read" || stores.length === 0
          ? await withStores()
          : await onSnapshot(options, {
              note: async () => {
                versions = await noted(stores);
                return () => areStill(versions);
              },
              work: () => run([...parts, ...partsOf(versions)], read),
              locked: withStores,
            });
      hasSucceeded = true;
      return result;
    } finally {
      for (const part of parts) this.#release(part, hasSucceeded);
    }
  }

  async #take(home: FileHome, { mode, waiting }: Hold): Promise<HeldPart> {
    const homes = this.#homes;
    if (mode === "look") return { home, session: null, lock: await homes.lockOnly(home, waiting) };
    if (waiting.isReadOnly) {
      const lock = await homes.lockFinished(home, waiting);
      return { home, session: null, lock, tail: lock?.tail, ...(!lock?.isLocked && ifStill(home)) };
    }
    const isThorough = mode === "thorough";
    // A crash during a first commit can leave the host's own folder without its lock file. Writing calls make one and
    // clean up under it.
    const session = await (home.kind === "store"
      ? homes.open(home, waiting, isThorough)
      : homes.resume(home, waiting, isThorough));
    return { home, session, ...(session === null && ifStill(home)) };
  }

  /** After a failure, everything is looked at again. */
  #release({ home, session, lock }: HeldPart, hasSucceeded: boolean): void {
    lock?.[Symbol.dispose]();
    if (session === null) return;
    if (hasSucceeded && home.kind !== "store") this.#homes.releaseLater(session);
    else this.#homes.release(session);
  }

  async homes(): Promise<FoundHome[]> {
    const root = this.#root;
    return [
      ...listUsers(root).map((id): FoundHome => ({ kind: "user", id })),
      ...listStores(root).map((id): FoundHome => ({ kind: "store", id, owner: ownerOf(root, id) })),
    ];
  }

  async strays(): Promise<StoreFinding[]> {
    return [...strayFolders(this.#root), ...strayStores(this.#root), ...(await this.erased.findings())];
  }

  async hintsOf(principal: StoreId): Promise<GrantHint[]> {
    return this.#hints.list(principal);
  }

  leave(principal: StoreId, store: StoreId, isLeft: boolean): Promise<boolean> {
    return this.#hints.leave(principal, store, isLeft);
  }

  async forgetHints(principal: StoreId, untilMs: number): Promise<void> {
    await this.#hints.forget(principal, untilMs);
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
    const retire = async (home: FileHome): Promise<void> => {
      const waiting = { make: false, readOnlyWillDo: true, until: performance.now() };
      const session = await this.#homes.open(home, waiting);
      if (session !== null) await this.#homes.retireAndRelease(session);
    };
    const lists: (() => readonly Home[])[] = [
      () => this.mounts,
      () => listUsers(this.#root).map(userHome),
      () => listStores(this.#root).map(storeHome),
    ];
    for (const list of lists) {
      await retireLeftOver(() => list().map((home) => this.#homeOf(home)), { retire, note: this.#note }, signal);
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

/** Homes that are looked at before other work gets a turn: some milliseconds. */
const homesAtOnce = 64;

interface RetireWork {
  /** Finishes and retires a home's WAL. Throws `BUSY` at once if someone uses it, who will retire it. */
  readonly retire: (home: FileHome) => Promise<void>;
  readonly note: (home: FileHome, text: string) => void;
}

/** The longest unused come first, one after the other: calls hardly notice it. Ends early when `closing` is aborted. */
async function retireLeftOver(
  list: () => readonly FileHome[],
  { retire, note }: RetireWork,
  closing: AbortSignal,
): Promise<void> {
  for (const { home } of await findLeftOver(list, closing)) {
    if (closing.aborted) return;
    try {
      await retire(home);
    } catch (error) {
      if (error instanceof ToolError && error.code === "BUSY") continue;
      note(home, `what an ended process has left could not be finished (${messageOf(error)})`);
    }
  }
}

interface LeftOver {
  readonly home: FileHome;
  readonly writtenUs: number;
}

async function findLeftOver(list: () => readonly FileHome[], closing: AbortSignal): Promise<LeftOver[]> {
  const found: LeftOver[] = [];
  for (const [at, home] of listed(list).entries()) {
    if (at % homesAtOnce === 0) await nextTurn(closing);
    if (closing.aborted) break;
    const writtenUs = recordsWrittenUs(home);
    if (writtenUs !== null) found.push({ home, writtenUs });
  }
  return found.toSorted((a, b) => a.writtenUs - b.writtenUs);
}

/** The process can end without waiting for this. Whoever closes the store waits, so then it ends at once. */
async function nextTurn(signal: AbortSignal): Promise<void> {
  await setImmediate(undefined, { ref: false, signal }).catch(() => {});
}

/** None if they cannot be listed: the first call reports that. */
function listed(list: () => readonly FileHome[]): readonly FileHome[] {
  try {
    return list();
  } catch {
    return [];
  }
}

/** When a home's WAL was last written, if it can have records; else `null`. */
function recordsWrittenUs(home: FileHome): number | null {
  try {
    using folder = HomeFolder.open(home);
    const wal = folder?.openOwn()?.measure(walFile) ?? null;
    return wal !== null && wal.bytes > recordsStart ? wal.writtenUs : null;
  } catch {
    // The doctor reports it.
    return null;
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : "unknown reason");
