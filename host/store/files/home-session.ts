/**
 * Works on one home under its lock: finishes what was left unfinished, then commits at most one change set.
 *
 * The order is the protocol: stage every file in full, append one record and flush it, apply by renames, check that the
 * folder is still where it was. `host/store/RATIONALE.md` explains why.
 */
import type { ErrorCode } from "../../../shared/errors.ts";
import type { Directory } from "../../disk/directory.ts";
import { failureOfDisk } from "../../disk/disk-failure.ts";
import type { ChangeSet, Seen } from "../../values/change-set.ts";
import { ToolError } from "../../values/tool-error.ts";
import { sizesAfter } from "../scope-size.ts";
import type { KnownSizes } from "../scope-size.ts";
import { removeStaged } from "./commit/apply-files.ts";
import { needsRecovery } from "./commit/find-records.ts";
import type { WalTail } from "./commit/find-records.ts";
import { recover } from "./commit/recover.ts";
import { retireWal } from "./commit/retire.ts";
import type { Wal } from "./commit/wal.ts";
import { HomeChange } from "./home-change.ts";
import type { WantedChange } from "./home-change.ts";
import type { HomeFolder } from "./home-folder.ts";
import type { HomeLock } from "./home-lock.ts";
import { claimOwner } from "./home-owner.ts";
import { shownAs } from "./home.ts";
import { isPurge, purge } from "./purge.ts";
import type { ScopeFolders } from "./scope-folders.ts";
import type { SessionSetup } from "./session-setup.ts";
import { SessionWal } from "./session-wal.ts";
import { readSizes, writeSizes } from "./stored-sizes.ts";

/** The disk did not let the check be made. */
const unseenCodes: ReadonlySet<ErrorCode> = new Set(["STORAGE_FAILED", "STORAGE_BUSY"]);

/** Disposing of it closes everything and releases the lock. */
export class HomeSession implements Disposable {
  readonly #setup: SessionSetup;
  readonly #folder: HomeFolder;
  readonly #own: Directory;
  readonly #lock: HomeLock;
  readonly #log: SessionWal;

  /** Takes over folder and lock. `own` is the host's own folder in it. */
  constructor(setup: SessionSetup, folder: HomeFolder, own: Directory, lock: HomeLock) {
    this.#setup = setup;
    this.#folder = folder;
    this.#own = own;
    this.#lock = lock;
    this.#log = new SessionWal(setup, folder, own);
  }

  /** Whether the folder is the home still: who held the lock before has perhaps moved it away. */
  get isInPlace(): boolean {
    return this.#lock.hasWaited ? this.#folder.isUnchanged() : this.#folder.isNamed;
  }

  /** Opens the WAL. Must be called first. */
  begin(): void {
    this.#log.open();
  }

  /** The home, for whoever erases it. */
  get folder(): HomeFolder {
    return this.#folder;
  }

  /** Does only what the WAL's records say. */
  async recover(): Promise<void> {
    const { memo, boot, note } = this.#setup;
    const wal = this.#log.present;
    if (wal === null) {
      removeStaged(this.#own);
      if (!this.#setup.isOwned && this.#setup.isThorough) await this.#recordOwner();
      return;
    }
    if (!this.#setup.isOwned && wal.isSetUp) await this.#recordOwner();
    this.#takeOver(wal);
    using folders = this.#log.scopeFolders();
    if (needsRecovery(wal, boot)) {
      await recover({ own: this.#own, folders, wal, boot, epochMs: Date.now(), note });
      if (wal.isEmpty) {
        memo.forgetTouched();
        wal.shrink();
      }
    } else if (!wal.isAsKnown) {
      removeStaged(this.#own);
    }
    memo.tail = wal.tail;
    if (wal.isOutdated || this.#setup.isThorough) await this.retire(false);
    if (memo.isBroken) await this.#log.replace();
  }

  /** Remembers the files of all records. */
  #takeOver(wal: Wal): void {
    const { memo } = this.#setup;
    if (!wal.isContinued) memo.forgetTouched();
    for (const file of wal.records.flatMap(({ files }) => files)) memo.touch(file);
    memo.records += wal.records.length;
  }

  /** The WAL's records, for what they say about changes of several stores; `null` if there is no WAL. */
  get wal(): Wal | null {
    return this.#log.present;
  }

  /** Makes durable that a part is applied. */
  async settle(): Promise<void> {
    await this.#log.settle(null);
  }

  /** Makes durable what the WAL shows now, and that nothing follows. Another process can have died before its flush. */
  async confirm(): Promise<void> {
    await this.#log.present?.confirmEnd();
    await this.#own.flush();
  }

  /** Takes back the last record, a part of a change that was never committed. */
  async eraseLast(): Promise<void> {
    this.#log.eraseLast();
    this.#setup.note("recovery took back a part of a change of several stores that was never committed");
    await this.recover();
  }

  /** The WAL could not be flushed and not be replaced. */
  get isBroken(): boolean {
    return this.#setup.memo.isBroken;
  }

  /** Whether some host has committed here before. */
  get isSetUp(): boolean {
    return this.#log.present?.isSetUp === true;
  }

  /** The WAL as this process has left it; `null` if it has to be read. */
  get tail(): WalTail | null {
    return this.#setup.memo.tail;
  }

  /** Returns the sizes of scopes after the commit, as far as they were known before. */
  async commit(changes: ChangeSet, seen: readonly Seen[], knownSizes: KnownSizes = {}): Promise<KnownSizes> {
    if (isPurge(changes)) return await this.purge(changes, knownSizes);
    using change = this.prepare({ changes, seen, creator: null });
    await this.commitPrepared(change);
    return sizesAfter(knownSizes, change.planned);
  }

  async commitPrepared(change: HomeChange): Promise<void> {
    await change.record();
    if (change.isEdited) await change.takeBack();
    change.apply();
    this.checkCommitted(change.folders);
  }

  /** As `commit`, for changes that are a purge. */
  async purge(changes: ChangeSet, knownSizes: KnownSizes): Promise<KnownSizes> {
    // A record that has put a file into the trash would put it there again after a crash.
    await this.retire(false).catch(passOverFull);
    this.checkPlace();
    const gone = await purge(changes, () => this.#log.scopeFolders(), this.#setup.isFlushed);
    return sizesAfter(knownSizes, gone);
  }

  prepare(wanted: WantedChange): HomeChange {
    const checkLock = (): void => this.#checkLock();
    return new HomeChange({ setup: this.#setup, own: this.#own, log: this.#log, checkLock }, wanted);
  }

  /** Makes all files durable and empties the WAL. */
  async retire(isIdle: boolean): Promise<void> {
    const { memo } = this.#setup;
    const wal = this.#log.present;
    if (wal === null || memo.touched.size === 0) return;
    using folders = this.#log.scopeFolders();
    try {
      await retireWal({ folders, wal }, [...memo.touched.values()]);
      memo.forgetTouched();
      if (isIdle) wal.shrink();
      memo.tail = wal.tail;
    } catch (error) {
      memo.tail = null;
      throw failureOfDisk(error, "flush the user's files");
    }
  }

  /** The sizes that an earlier process has left. */
  storedSizes(): KnownSizes {
    return this.tail === null ? {} : readSizes(this.#own, this.tail);
  }

  /** Leaves the sizes to later processes. */
  storeSizes(sizes: KnownSizes): void {
    if (this.tail !== null) writeSizes(this.#own, this.tail, sizes);
  }

  /** Whether to retire the WAL. Never while the last record is perhaps unapplied: it would be dropped too. */
  get isRetireDue(): boolean {
    const { memo } = this.#setup;
    return memo.tail !== null && memo.isLong(this.#log.present?.bytes ?? 0);
  }

  /** Throws if the folder was moved away meanwhile, for example by a restore: changes in it would be lost. */
  checkPlace(folders?: ScopeFolders): void {
    this.#checkLock();
    if (this.#folder.isUnchanged() && folders?.areUnchanged() !== false) return;
    this.#setup.memo.tail = null;
    throw this.#lost("it was moved away while the call ran");
  }

  /** Throws if the lock's file was removed: it keeps nobody out any more. */
  #checkLock(): void {
    if (this.#lock.isInPlace(this.#own)) return;
    this.#setup.memo.tail = null;
    throw this.#lost("its lock was removed while the call ran");
  }

  #lost(why: string): ToolError {
    return new ToolError("STORAGE_FAILED", `Cannot change ${shownAs[this.#setup.home.kind]}: ${why}`);
  }

  /**
   * Checks the place after a commit. Throws `STORAGE_FAILED` if the folder has been moved away, although the change is
   * committed. If the disk does not allow the check, the call succeeds.
   */
  checkCommitted(folders: ScopeFolders): void {
    try {
      this.checkPlace(folders);
    } catch (error) {
      const isUnseen = error instanceof ToolError && unseenCodes.has(error.tableCode) && error.cause !== undefined;
      if (!isUnseen) throw error;
      this.#setup.memo.tail = null;
      this.#setup.note(`a committed change could not be checked again (${error.message})`);
    }
  }

  [Symbol.dispose](): void {
    for (const each of [this.#log, this.#folder, this.#lock]) each[Symbol.dispose]();
  }

  /** Records the owner again, after someone has removed the record. */
  async #recordOwner(): Promise<void> {
    await claimOwner(this.#own, this.#setup.home);
    await this.#own.flush();
  }
}

/** A purge must free space where there is none. */
function passOverFull(error: unknown): void {
  if (!(error instanceof ToolError) || error.code !== "STORAGE_FULL") throw error;
}
