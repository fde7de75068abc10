/**
 * Keeps users' memory as Markdown files: `users/<folder>/<scope>/<path>` below the data folder, with the host's own
 * `.memcell/` beside the scopes. In a mounted folder, a file is at `<path>`, and `.memcell/` beside.
 */
import { readBootId } from "../../disk/boot-id.ts";
import type { DataRoot } from "../../disk/data-root.ts";
import type { Directory } from "../../disk/directory.ts";
import { ToolError } from "../../values/tool-error.ts";
import type { UserId } from "../../values/user-id.ts";
import { HeldReads } from "../held-reads.ts";
import { checkCommits, StaleCall, untilFresh } from "../plan-changes.ts";
import type { HeldUser, HoldOptions, NoteOfUser, Store, StorePart } from "../store.ts";
import { examineUser } from "./examine.ts";
import { FileReader } from "./file-reader.ts";
import { listUsers } from "./list-users.ts";
import { RetireSchedule } from "./retire-schedule.ts";
import { UserMemo } from "./session-setup.ts";
import { KeptSizes } from "./used-bytes.ts";
import { checkOwner, UserFolder } from "./user-folder.ts";
import type { UserHome } from "./user-folder.ts";
import { lockUser } from "./user-lock.ts";
import type { LockRequest, UserLock } from "./user-lock.ts";
import { UserSession } from "./user-session.ts";

export interface FileStoreSetup {
  readonly durability: "full" | "relaxed";
  readonly note: NoteOfUser;
  /** Set if the root is not a data folder, but stands for this scope of one user. */
  readonly mountedScope?: string;
}

export class FileStore implements Store {
  readonly #root: DataRoot;
  readonly #options: FileStoreSetup;
  readonly #boot: string | null;
  readonly #memos = new Map<UserId, UserMemo>();
  readonly #schedule: RetireSchedule<UserId>;
  readonly #sizes = new KeptSizes();

  /** `boot` is the machine's boot id; crash tests pass another one. */
  constructor(root: DataRoot, options: FileStoreSetup, boot: string | null = readBootId()) {
    this.#root = root;
    this.#options = options;
    this.#boot = boot;
    this.#schedule = new RetireSchedule({
      retire: (userId, waitMs) => this.#retireIdle(userId, waitMs),
      note: (userId, text) => options.note(userId, text),
    });
  }

  async hold<Result>(userId: UserId, options: HoldOptions, work: (held: HeldUser) => Promise<Result>): Promise<Result> {
    return await untilFresh(options, () => this.#hold(userId, options, work));
  }

  /** Opens a user's files as a thread's readers do. */
  openUser(userId: UserId): FileReader {
    return new FileReader(this.#homeOf(userId));
  }

  async users(): Promise<UserId[]> {
    return this.#options.mountedScope === undefined ? listUsers(this.#root) : [];
  }

  async parts(): Promise<readonly StorePart[]> {
    return [{ scopes: [] }];
  }

  isApart(): boolean {
    return this.#options.mountedScope !== undefined;
  }

  async close(): Promise<void> {
    await this.#schedule.close();
  }

  async #hold<Result>(
    userId: UserId,
    options: HoldOptions,
    work: (held: HeldUser) => Promise<Result>,
  ): Promise<Result> {
    // A crash during a first commit can leave the host's own folder without its lock file. Writing calls make one and
    // clean up under it.
    const { until, signal } = options;
    const request = { make: options.writes, readOnlyWillDo: !options.writes, until, signal };
    using _looking = options.isLookingOnly ? await this.#lockOnly(userId, request) : null;
    const isThorough = options.isThorough === true;
    if (isThorough) Object.assign(this.#memoOf(userId), { tail: null, ownedIdentity: null });
    if (isThorough) this.#sizes.forget(userId);
    let session = options.isLookingOnly ? null : await this.#open(userId, request, isThorough);
    const reader = new HeldReads(() => this.openUser(userId));
    const known = this.#sizes.of(userId, session?.tail ?? null);
    let latest = known;
    try {
      return await work({
        reader,
        usedBytes: known,
        findings: async () => examineUser(this.#homeOf(userId), this.#boot),
        commit: async (changes, seen, usedBytes = latest) => {
          if (changes.length === 0) return;
          checkCommits(options);
          session ??= await this.#openFirst(userId, options);
          latest = await session.commit(changes, seen, usedBytes);
          this.#sizes.keep(userId, session.tail, { bytes: latest, known });
          reader.forget();
          this.#schedule.noteUse(userId);
        },
      });
    } finally {
      reader.end();
      this.#release(userId, session);
    }
  }

  /** Takes the lock and changes nothing. */
  async #lockOnly(userId: UserId, request: LockRequest): Promise<Disposable | null> {
    using folder = UserFolder.open(this.#homeOf(userId));
    const own = folder?.openOwn() ?? null;
    return own && (await lockUser(own, { ...request, readOnlyWillDo: true }));
  }

  /** Creates the folder for a user's first commit. Throws `StaleCall` if someone else was faster. */
  async #openFirst(userId: UserId, { until, signal }: HoldOptions): Promise<UserSession> {
    await UserFolder.make(this.#homeOf(userId));
    const session = await this.#open(userId, { make: true, readOnlyWillDo: false, until, signal });
    if (session !== null && !session.isSetUp) return session;
    session?.[Symbol.dispose]();
    throw new StaleCall();
  }

  async #open(userId: UserId, request: LockRequest, isThorough = false): Promise<UserSession | null> {
    const home = this.#homeOf(userId);
    const folder = UserFolder.open(home);
    const memo = this.#memoOf(userId);
    let own: Directory | null;
    let lock: UserLock | null;
    let isOwned: boolean;
    try {
      own = folder?.openOwn() ?? null;
      isOwned = (own !== null && memo.ownedIdentity === own.identity) || checkOwner(own, home);
      memo.ownedIdentity = isOwned && own ? own.identity : null;
      lock = own && (await lockUser(own, request));
    } catch (error) {
      folder?.[Symbol.dispose]();
      throw error;
    }
    if (!folder || !own || !lock || lock.isReadOnly) {
      for (const each of [folder, lock]) each?.[Symbol.dispose]();
      return null;
    }
    const isFlushed = this.#options.durability === "full";
    const note = (text: string): void => this.#options.note(userId, text);
    const setup = { home, memo, isOwned, isThorough, isFlushed, boot: this.#boot, note };
    const session = new UserSession(setup, folder, own, lock);
    try {
      // The folder was opened just now, so it is checked only after a wait for the lock. `commit` checks again.
      if (lock.hasWaited) session.checkPlace();
      await session.recover();
      return session;
    } catch (error) {
      session[Symbol.dispose]();
      throw error;
    }
  }

  /** Releases the lock. Retires a long WAL first, in the background. */
  #release(userId: UserId, session: UserSession | null): void {
    if (session === null) return;
    if (session.isRetireDue) return this.#schedule.run(userId, () => this.#retireAndDispose(userId, session));
    session[Symbol.dispose]();
    if (this.#memoOf(userId).touched.size > 0) this.#schedule.add(userId);
    else if (!this.#memoOf(userId).isBroken) this.#memos.delete(userId);
  }

  async #retireIdle(userId: UserId, waitMs: number): Promise<void> {
    const request = { make: false, readOnlyWillDo: false, until: performance.now() + waitMs };
    try {
      using session = await this.#open(userId, request);
      if (session !== null) await this.#retire(userId, session, true);
    } catch (error) {
      if (!(error instanceof ToolError) || error.code !== "BUSY") throw error;
      // The process that uses the user will probably retire the WAL. If not, it is tried again.
      return this.#schedule.add(userId);
    }
    if (!this.#memoOf(userId).isBroken) this.#memos.delete(userId);
  }

  async #retireAndDispose(userId: UserId, session: UserSession): Promise<void> {
    try {
      await this.#retire(userId, session, false);
    } finally {
      session[Symbol.dispose]();
    }
  }

  async #retire(userId: UserId, session: UserSession, isIdle: boolean): Promise<void> {
    const before = session.tail;
    await session.retire(isIdle);
    this.#sizes.follow(userId, before, session.tail);
  }

  #homeOf(userId: UserId): UserHome {
    return { root: this.#root, userId, mountedScope: this.#options.mountedScope ?? null };
  }

  #memoOf(userId: UserId): UserMemo {
    const memo = this.#memos.get(userId) ?? new UserMemo(this.#options.mountedScope !== undefined);
    this.#memos.set(userId, memo);
    return memo;
  }
}
