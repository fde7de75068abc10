/**
 * Works on one user under the lock: finishes what was left unfinished, then commits at most one change set.
 *
 * The order is the protocol: stage every file in full, append one record and flush it, apply by renames, check that the
 * folder is still where it was. `host/store/RATIONALE.md` explains why.
 */
import type { Directory } from "../../disk/directory.ts";
import { failureOfDisk } from "../../disk/disk-failure.ts";
import type { ChangeSet, Seen } from "../../values/change-set.ts";
import { ToolError } from "../../values/tool-error.ts";
import { planChanges, StaleCall, usedAfter } from "../plan-changes.ts";
import type { ChangedFile, PlannedFile } from "../plan-changes.ts";
import type { UsedBytes } from "../store.ts";
import {
  applyStaged,
  asPresent,
  isEdited,
  removeStaged,
  removeStagedQuietly,
  stageFiles,
} from "./commit/apply-files.ts";
import type { StagedPlan } from "./commit/apply-files.ts";
import { needsRecovery, WalDamaged } from "./commit/find-records.ts";
import type { WalTail } from "./commit/find-records.ts";
import { recover } from "./commit/recover.ts";
import { replaceWal } from "./commit/replace-wal.ts";
import { retireWal } from "./commit/retire.ts";
import { Wal, WalUnflushable } from "./commit/wal.ts";
import { ScopeFolders } from "./scope-folders.ts";
import type { SessionSetup } from "./session-setup.ts";
import { claimOwner } from "./user-folder.ts";
import type { UserFolder } from "./user-folder.ts";
import type { UserLock } from "./user-lock.ts";

/** Disposing of it closes everything and releases the lock. */
export class UserSession implements Disposable {
  readonly #setup: SessionSetup;
  readonly #folder: UserFolder;
  readonly #own: Directory;
  readonly #lock: UserLock;
  #wal: Wal | null = null;

  /** Takes over folder and lock. `own` is the host's own folder in it. */
  constructor(setup: SessionSetup, folder: UserFolder, own: Directory, lock: UserLock) {
    this.#setup = setup;
    this.#folder = folder;
    this.#own = own;
    this.#lock = lock;
  }

  /** Does only what the WAL's records say. */
  async recover(): Promise<void> {
    const { memo, boot, note } = this.#setup;
    this.#openWal();
    const wal = this.#wal;
    if (wal === null) {
      removeStaged(this.#own);
      if (!this.#setup.isOwned && this.#setup.isThorough) await this.#recordOwner();
      return;
    }
    if (!this.#setup.isOwned && wal.isSetUp) await this.#recordOwner();
    if (!wal.isContinued) this.#setup.memo.forgetTouched();
    for (const file of wal.records.flatMap(({ files }) => files)) this.#setup.memo.touch(file);
    memo.records += wal.records.length;
    using folders = this.#scopeFolders();
    if (needsRecovery(wal, boot)) {
      await recover({ own: this.#own, folders, wal, boot, epochMs: Date.now(), note });
      if (wal.isEmpty) this.#setup.memo.forgetTouched();
    } else if (!wal.isAsKnown) {
      removeStaged(this.#own);
    }
    memo.tail = wal.tail;
    if (memo.isBroken) await this.#replaceWal(folders);
  }

  /** Whether some host has committed here before. */
  get isSetUp(): boolean {
    return this.#wal?.isSetUp === true;
  }

  /** The WAL as this process has left it; `null` if it has to be read. */
  get tail(): WalTail | null {
    return this.#setup.memo.tail;
  }

  /** Returns the sizes of scopes after the commit, as far as they were known before. */
  async commit(changes: ChangeSet, seen: readonly Seen[], usedBytes: UsedBytes = {}): Promise<UsedBytes> {
    using folders = this.#scopeFolders();
    const planned = planChanges(folders, changes, seen);
    const staged = stageFiles(this.#own, folders, planned);
    await this.#writeDown(planned);
    if (isEdited(folders, planned)) await this.#takeBack(folders, planned);
    this.#apply(staged);
    this.#checkCommitted(folders);
    return usedAfter(usedBytes, planned);
  }

  /** Cancels the last record, of which nothing is applied. A second record says that all files are as they are now. */
  async #takeBack(folders: ScopeFolders, planned: readonly PlannedFile[]): Promise<never> {
    for (const file of planned) this.#setup.memo.touch(file);
    Object.assign(this.#setup.memo, { tail: null, records: this.#setup.memo.records + 2 });
    this.#wal?.markApplied();
    await this.#writeDown(asPresent(folders, planned));
    this.#wal?.markApplied();
    throw new StaleCall();
  }

  /** Makes all files durable and empties the WAL. */
  async retire(isIdle: boolean): Promise<void> {
    const { memo } = this.#setup;
    if (this.#wal === null || memo.touched.size === 0) return;
    using folders = this.#scopeFolders();
    try {
      await retireWal({ folders, wal: this.#wal }, [...memo.touched.values()]);
      this.#setup.memo.forgetTouched();
      if (isIdle) this.#wal.shrink();
      memo.tail = this.#wal.tail;
    } catch (error) {
      memo.tail = null;
      throw failureOfDisk(error, "flush the user's files");
    }
  }

  /** Whether to retire the WAL. Never while the last record is perhaps unapplied: it would be dropped too. */
  get isRetireDue(): boolean {
    const { memo } = this.#setup;
    return memo.tail !== null && memo.isLong(this.#wal?.bytes ?? 0);
  }

  /** Throws if the folder was moved away meanwhile, for example by a restore: changes in it would be lost. */
  checkPlace(folders?: ScopeFolders): void {
    this.#checkLock();
    if (this.#folder.isUnchanged() && folders?.areUnchanged() !== false) return;
    this.#setup.memo.tail = null;
    throw new ToolError("STORAGE_FAILED", "Cannot change the user's folder: it was moved away while the call ran");
  }

  /** Throws if the lock's file was removed: it keeps nobody out any more. */
  #checkLock(): void {
    if (this.#lock.isInPlace(this.#own)) return;
    this.#setup.memo.tail = null;
    throw new ToolError("STORAGE_FAILED", "Cannot change the user's folder: its lock was removed while the call ran");
  }

  /**
   * Checks the place after a commit. Throws `STORAGE_FAILED` if the folder has been moved away, although the change is
   * committed. If the disk does not allow the check, the call succeeds.
   */
  #checkCommitted(folders: ScopeFolders): void {
    try {
      this.checkPlace(folders);
    } catch (error) {
      const isUnseen = error instanceof ToolError && error.code === "STORAGE_FAILED" && error.cause !== undefined;
      if (!isUnseen) throw error;
      this.#setup.memo.tail = null;
      this.#setup.note(`a committed change could not be checked again (${error.message})`);
    }
  }

  [Symbol.dispose](): void {
    for (const each of [this.#wal, this.#folder, this.#lock]) each?.[Symbol.dispose]();
  }

  /** Walks again for each piece of work. */
  #scopeFolders(): ScopeFolders {
    const { user } = this.#folder;
    const { memo } = this.#setup;
    return new ScopeFolders(user, { isMounted: memo.isMounted, folds: memo.foldsOf(user) });
  }

  #openWal(): void {
    const { memo, note } = this.#setup;
    try {
      this.#wal = Wal.open(this.#own, this.#setup.home.userId, { known: memo.tail });
    } catch (error) {
      if (!(error instanceof WalDamaged)) throw error;
      note(`${error.message}; it was put aside as ${Wal.putAside(this.#own)}`);
      memo.tail = null;
    }
  }

  async #writeDown(files: readonly ChangedFile[]): Promise<void> {
    const { isFlushed, boot } = this.#setup;
    try {
      const wal = (this.#wal ??= Wal.make(this.#own, this.#setup.home.userId));
      if (!wal.isSetUp || (isFlushed && wal.isRelaxed)) await this.#setUp();
      this.#checkLock();
      await wal.append({ boot, files }, isFlushed);
    } catch (error) {
      removeStagedQuietly(this.#own);
      if (!(error instanceof WalUnflushable)) throw error;
      await this.#abandonWal();
      throw failureOfDisk(error.cause, "make the change durable");
    }
  }

  /** Makes everything that leads to the WAL durable, before a record in it can be. */
  async #setUp(): Promise<void> {
    const { home, isFlushed } = this.#setup;
    await claimOwner(this.#own, home);
    if (isFlushed) await this.#folder.flush();
  }

  /** Records the owner again, after someone has removed the record. */
  async #recordOwner(): Promise<void> {
    await claimOwner(this.#own, this.#setup.home);
    await this.#own.flush();
  }

  /** Applies a committed change set. What cannot be applied now is applied by the next call. */
  #apply(staged: StagedPlan): void {
    const { memo, note } = this.#setup;
    const wal = this.#wal;
    for (const file of staged.files) this.#setup.memo.touch(file);
    memo.records++;
    try {
      applyStaged(staged, this.#setup.isFlushed);
      wal?.markApplied();
      memo.tail = wal?.tail ?? null;
    } catch (error) {
      memo.tail = null;
      note(`a committed change could not be applied yet (${failureOfDisk(error, "apply it").message})`);
    }
  }

  async #abandonWal(): Promise<void> {
    const { memo, note } = this.#setup;
    memo.isBroken = true;
    memo.tail = null;
    try {
      using folders = this.#scopeFolders();
      await this.#replaceWal(folders);
    } catch (error) {
      note(`the WAL could not be replaced (${failureOfDisk(error, "replace it").message})`);
    }
  }

  async #replaceWal(folders: ScopeFolders): Promise<void> {
    const { memo, home } = this.#setup;
    const wal = this.#wal;
    if (wal === null) return;
    await replaceWal({ own: this.#own, folders, wal }, [...memo.touched.values()]);
    wal[Symbol.dispose]();
    this.#setup.memo.forgetTouched();
    memo.isBroken = false;
    memo.tail = null;
    this.#wal = Wal.open(this.#own, home.userId);
  }
}
