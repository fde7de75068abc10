import { readBootId } from "../../disk/boot-id.ts";
import type { DataRoot } from "../../disk/data-root.ts";
/**
 * Users' memory as Markdown files: `users/<folder>/<scope>/<path>` below the data folder, and the host's own
 * `.memcell/` beside the scopes. Of a mounted folder it is `<path>` and `.memcell/` below it.
 */
import { ToolError } from "../../values/tool-error.ts";
import type { UserId } from "../../values/user-id.ts";
import type { HeldUser, HoldOptions, Store, StoreOptions, StorePart } from "../store.ts";
import { examineUser } from "./examine.ts";
import { FileReader } from "./file-reader.ts";
import { HeldFiles } from "./held-files.ts";
import { listUsers } from "./list-users.ts";
import { checkOwnerIn } from "./owner.ts";
import { RetireSchedule } from "./retire-schedule.ts";
import { StaleCall } from "./stale-call.ts";
import { UserFolder } from "./user-folder.ts";
import { lockUser } from "./user-lock.ts";
import type { LockRequest, UserLock } from "./user-lock.ts";
import { newMemo } from "./user-memo.ts";
import type { UserMemo } from "./user-memo.ts";
import { UserSession } from "./user-session.ts";

/** How often a call is made again when someone edits its files at the same time. */
const attemptsMax = 3;

interface FileStoreOptions extends StoreOptions {
  /** The root is no data folder, but stands for this scope of the one user that is asked for. */
  readonly mountedScope?: string;
}

export class FileStore implements Store {
  readonly #root: DataRoot;
  readonly #options: FileStoreOptions;
  readonly #boot: string | null;
  readonly #memos = new Map<UserId, UserMemo>();
  readonly #schedule: RetireSchedule<UserId>;

  /** `boot` is the present start of the machine; tests of crashes pretend another one. */
  constructor(root: DataRoot, options: FileStoreOptions, boot: string | null = readBootId()) {
    this.#root = root;
    this.#options = options;
    this.#boot = boot;
    this.#schedule = new RetireSchedule({
      retire: (userId, waitMs) => this.#retireIdle(userId, waitMs),
      note: (userId, text) => options.note(userId, text),
    });
  }

  async hold<Result>(userId: UserId, options: HoldOptions, work: (held: HeldUser) => Promise<Result>): Promise<Result> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#hold(userId, options, work);
      } catch (error) {
        if (!(error instanceof StaleCall) || attempt === attemptsMax) throw error;
      }
    }
  }

  /** As a thread's readers do. */
  openUser(userId: UserId): FileReader {
    return new FileReader(this.#folderOf(userId));
  }

  async users(): Promise<UserId[]> {
    return this.#options.mountedScope === undefined ? listUsers(this.#root) : [];
  }

  async parts(): Promise<readonly StorePart[]> {
    return [{ scopes: [] }];
  }

  async close(): Promise<void> {
    await this.#schedule.close();
  }

  async #hold<Result>(
    userId: UserId,
    options: HoldOptions,
    work: (held: HeldUser) => Promise<Result>,
  ): Promise<Result> {
    // A crash during a first commit may have left the host's own folder without its lock: it is tidied up under one.
    const { until, signal } = options;
    const request = { make: options.writes, readOnlyWillDo: !options.writes, until, signal };
    using _looking = options.isLookingOnly ? await this.#lockOnly(userId, request) : null;
    const isThorough = options.isThorough === true;
    if (isThorough) Object.assign(this.#memoOf(userId), { tail: null, ownedIdentity: null });
    let session = options.isLookingOnly ? null : await this.#open(userId, request, isThorough);
    using reader = new HeldFiles(() => this.openUser(userId));
    try {
      return await work({
        reader,
        isApart: this.#options.mountedScope !== undefined,
        findings: async () => examineUser(this.#folderOf(userId), this.#boot),
        commit: async (changes, seen) => {
          if (changes.length === 0) return;
          if (options.isLookingOnly) throw new RangeError("Nothing can be committed by who only looks");
          session ??= await this.#openFirst(userId, options);
          await session.commit(changes, seen);
          this.#schedule.noteUse(userId);
        },
      });
    } finally {
      this.#release(userId, session);
    }
  }

  /** Keeps others out and leaves everything as it is. */
  async #lockOnly(userId: UserId, request: LockRequest): Promise<Disposable | null> {
    using way = this.#folderOf(userId).openWay();
    return way && (await lockUser(way.own, { ...request, readOnlyWillDo: true }));
  }

  /** A user's first commit makes the folder. Someone else may have been faster: then the call has to be made again. */
  async #openFirst(userId: UserId, { until, signal }: HoldOptions): Promise<UserSession> {
    const { own, made } = await this.#folderOf(userId).make();
    for (const each of [own, ...made]) each[Symbol.dispose]();
    const session = await this.#open(userId, { make: true, readOnlyWillDo: false, until, signal });
    if (session !== null && !session.isSetUp) return session;
    session?.[Symbol.dispose]();
    throw new StaleCall();
  }

  async #open(userId: UserId, request: LockRequest, isThorough = false): Promise<UserSession | null> {
    const folder = this.#folderOf(userId);
    const way = folder.openWay();
    const memo = this.#memoOf(userId);
    let lock: UserLock | null;
    let isOwned: boolean;
    try {
      isOwned = (way !== null && memo.ownedIdentity === way.own.identity) || checkOwnerIn(way?.own ?? null, folder);
      memo.ownedIdentity = isOwned && way ? way.own.identity : null;
      lock = way && (await lockUser(way.own, request));
    } catch (error) {
      way?.[Symbol.dispose]();
      throw error;
    }
    if (!way || !lock || lock.isReadOnly) {
      for (const each of [way, lock]) each?.[Symbol.dispose]();
      return null;
    }
    const isFlushed = this.#options.durability === "full";
    const note = (text: string): void => this.#options.note(userId, text);
    const setup = { folder, memo, isOwned, isThorough, isFlushed, boot: this.#boot, note };
    const session = new UserSession(setup, way, lock);
    try {
      // The way was walked just now. While the lock was waited for, it may have been moved away.
      if (lock.hasWaited) session.checkPlace();
      await session.recover();
      return session;
    } catch (error) {
      session[Symbol.dispose]();
      throw error;
    }
  }

  /** Releases the lock, after retiring the WAL when it has become long; nobody waits for that. */
  #release(userId: UserId, session: UserSession | null): void {
    if (session === null) return;
    if (session.isRetireDue) return this.#schedule.run(userId, () => retireAndDispose(session));
    session[Symbol.dispose]();
    if (session.hasRecords) this.#schedule.add(userId);
    else if (!this.#memoOf(userId).isBroken) this.#memos.delete(userId);
  }

  async #retireIdle(userId: UserId, waitMs: number): Promise<void> {
    const request = { make: false, readOnlyWillDo: false, until: performance.now() + waitMs };
    try {
      using session = await this.#open(userId, request);
      await session?.retire(true);
    } catch (error) {
      if (!(error instanceof ToolError) || error.code !== "BUSY") throw error;
      // Someone uses the user, and so will retire the WAL in time; if not, it is tried again.
      return this.#schedule.add(userId);
    }
    if (!this.#memoOf(userId).isBroken) this.#memos.delete(userId);
  }

  #folderOf(userId: UserId): UserFolder {
    return new UserFolder(this.#root, userId, this.#options.mountedScope);
  }

  #memoOf(userId: UserId): UserMemo {
    const memo = this.#memos.get(userId) ?? newMemo(this.#options.mountedScope !== undefined);
    this.#memos.set(userId, memo);
    return memo;
  }
}

async function retireAndDispose(session: UserSession): Promise<void> {
  try {
    await session.retire(false);
  } finally {
    session[Symbol.dispose]();
  }
}
