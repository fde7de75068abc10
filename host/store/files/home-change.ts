import { failureOfDisk } from "../../disk/disk-failure.ts";
import { giveTurn, inTurns } from "../../values/turns.ts";
import type { UserId } from "../../values/user-id.ts";
import type { EngineCommit } from "../engine.ts";
import { planChanges, StaleCall } from "../plan-changes.ts";
import type { PlannedFile } from "../plan-changes.ts";
import type { ChangeVersions } from "./change-versions.ts";
import { applyStaged, lastChangeUs, stageFiles } from "./commit/apply-files.ts";
import type { StagedPlan } from "./commit/apply-files.ts";
import { asPresent, isEdited } from "./commit/compare-again.ts";
import { replaceEdited } from "./commit/save-aside.ts";
import type { RecordedFile, WalRecord } from "./commit/wal-format.ts";
import type { ScopeFolders } from "./scope-folders.ts";
import type { SessionHistory } from "./session-history.ts";
import type { SessionPlace } from "./session-place.ts";
import type { SessionSetup } from "./session-setup.ts";
import type { SessionWal } from "./session-wal.ts";

/** What a change needs of its session. */
export interface ChangeSession {
  readonly setup: SessionSetup;
  readonly place: SessionPlace;
  readonly log: SessionWal;
  readonly history: SessionHistory;
}

/** One change set in one home, on its way: planned and staged, then recorded, then applied or taken back. */
export class HomeChange {
  readonly folders: ScopeFolders;
  readonly planned: readonly PlannedFile[];
  readonly #session: ChangeSession;
  readonly #staged: StagedPlan;
  readonly #creator: UserId | null;
  readonly #versions: ChangeVersions;

  private constructor(session: ChangeSession, creator: UserId | null, staged: StagedPlan, versions: ChangeVersions) {
    this.#session = session;
    this.#creator = creator;
    this.folders = staged.folders;
    this.planned = staged.files;
    this.#staged = staged;
    this.#versions = versions;
  }

  /** Plans the change and writes its new contents to staged files. */
  static async plan(
    session: ChangeSession,
    { home, by, changes, seen, facts, kind, lowered }: EngineCommit,
  ): Promise<HomeChange> {
    const folders = session.place.scopes();
    const planned = await inTurns(planChanges(folders, changes, seen));
    const versions = await session.history.plan({ facts, kind, planned, seen }, lowered, folders);
    const staged = await inTurns(stageFiles(session.place.own, folders, planned));
    return new HomeChange(session, home.kind === "store" ? by : null, staged, versions);
  }

  /** Writes the record and makes it durable. */
  async record(): Promise<void> {
    const files: RecordedFile[] = [];
    for (const file of this.planned) {
      await giveTurn();
      files.push(Object.assign({ way: this.folders.inodesOnWay(file.scope, file.path) }, file));
    }
    const { versions, edited } = this.#versions;
    const ofHistory = {
      ...(versions.length > 0 && { versions: versions.map(({ line }) => line) }),
      ...(edited.length > 0 && { edited: edited.map(({ content }) => content) }),
    };
    await this.#write({ files, stagedUs: this.#staged.stagedUs, ...ofHistory });
    await this.#session.history.recorded(this.#versions);
  }

  /** Whether someone has changed a file since the change was planned. */
  isEdited(): Promise<boolean> {
    return inTurns(isEdited(this.folders, this.planned));
  }

  /** Cancels the record, of which nothing is applied. A second record says that all files are as they are now. */
  async takeBack(): Promise<never> {
    const { memo } = this.#session.setup;
    for (const file of this.planned) memo.touch(file);
    Object.assign(memo, { tail: null, records: memo.records + 2 });
    const { log, history } = this.#session;
    history.takeBack(this.#versions);
    log.present?.markApplied(null);
    await this.#write({ files: asPresent(this.folders, this.planned), voids: true });
    await this.#markApplied();
    memo.tail = null;
    throw new StaleCall();
  }

  /** Applies the recorded change. What cannot be applied now is applied by the next call. */
  async apply(): Promise<void> {
    this.#noteApplied();
    try {
      await this.#applyStaged();
      await this.#markApplied();
    } catch (error) {
      this.#leave("apply it", error);
    }
  }

  /** What somebody has written since the plan goes to the trash first. */
  async #applyStaged(): Promise<void> {
    const { place, log, setup } = this.#session;
    const left = await inTurns(applyStaged(this.#staged, setup.isFlushed));
    const wal = log.present;
    if (left.length === 0 || wal === null) return;
    const aside = { own: place.own, folders: this.folders, wal, epochMs: Date.now() };
    for (const text of await replaceEdited(aside, left)) setup.note(text);
  }

  async #markApplied(): Promise<void> {
    const { log, setup } = this.#session;
    const appliedUs = await this.#appliedUs();
    log.present?.markApplied(appliedUs);
    setup.memo.tail = log.present?.tail ?? null;
  }

  #appliedUs(): Promise<number> {
    return inTurns(lastChangeUs(this.#session.place.own, this.folders, this.planned));
  }

  /** Remembers the files that the WAL protects from now on, and the versions that it has. */
  #noteApplied(): void {
    const { memo } = this.#session.setup;
    this.#session.history.committed(this.#versions);
    for (const file of this.planned) memo.touch(file);
    memo.records++;
  }

  #leave(action: string, error: unknown): void {
    const { memo, note } = this.#session.setup;
    memo.tail = null;
    note(`a committed change could not be applied yet (${failureOfDisk(error, action).message})`);
  }

  async #write(record: Omit<WalRecord, "boot">): Promise<void> {
    await this.#session.log.write(record, this.#creator);
  }
}
