/**
 * Keeps users' memory as Markdown files: `users/<folder>/<scope>/<path>` below the data folder, with the host's own
 * `.memcell/` beside the scopes. In a mounted folder, a file is at `<path>`, and `.memcell/` beside.
 */
import { readBootId } from "../../disk/boot-id.ts";
import type { DataRoot } from "../../disk/data-root.ts";
import type { UserId } from "../../values/user-id.ts";
import { commitDecided, storesWithRecords } from "../decided-commits.ts";
import type { DecidedRecords } from "../decided-commits.ts";
import type { HoldToEraseOptions, HeldToErase } from "../erasing.ts";
import { HeldReads } from "../held-reads.ts";
import type { HeldRecords } from "../held-records.ts";
import { noSharedStores } from "../no-shared-stores.ts";
import { checkCommits, StaleCall, untilFresh } from "../plan-changes.ts";
import type { SharedStores } from "../shared-stores.ts";
import { defaultSettings } from "../store-settings.ts";
import type { StoreSettings } from "../store-settings.ts";
import type {
  HeldUser,
  HoldOptions,
  KnownSizes,
  MountLocation,
  NoteOfUser,
  Store,
  StoreFinding,
  StorePart,
  UserReader,
} from "../store.ts";
import { unstatedFacts } from "../versions/version.ts";
import { removeStagedHomes } from "./copy/staged-home.ts";
import { examineHome } from "./examine.ts";
import { FileErasures } from "./file-erasures.ts";
import { FileReader, heldFiles } from "./file-reader.ts";
import { heldFileRecords } from "./held-file-records.ts";
import { HomeFolder } from "./home-folder.ts";
import type { HomeSession } from "./home-session.ts";
import { mountedHome, storesFolder, userHome } from "./home.ts";
import type { Home } from "./home.ts";
import { Homes } from "./homes.ts";
import type { KeptLimits } from "./kept-sessions.ts";
import { retireLeftOver } from "./left-over.ts";
import { listUsers, strayFolders } from "./list-users.ts";
import { waitingFor } from "./open-session.ts";
import { FileSharedStores } from "./shared/file-shared-stores.ts";
import { SharedFileReader } from "./shared/shared-file-reader.ts";
import { strayStores } from "./shared/store-facts.ts";

export interface FileStoreSetup {
  readonly durability: "full" | "relaxed";
  readonly note: NoteOfUser;
  /** Set if the root is not a data folder, but stands for one scope of one user. */
  readonly mount?: Pick<MountLocation, "userId" | "scope">;
  /** How sessions are kept for another call. Crash tests have limits of their own. */
  readonly kept?: KeptLimits;
  /** Default: `defaultSettings`. */
  readonly settings?: StoreSettings;
}

export class FileStore implements Store {
  readonly shared: SharedStores;
  readonly erased: FileErasures;
  readonly #stores: FileSharedStores;
  readonly #root: DataRoot;
  readonly #boot: string | null;
  readonly #mount: FileStoreSetup["mount"];
  readonly #homes: Homes<UserId>;
  readonly #note: NoteOfUser;
  #leftOver: Promise<void> | null = null;
  readonly #closing = new AbortController();

  /** `boot` is the machine's boot id; crash tests pass another one. */
  constructor(root: DataRoot, setUp: FileStoreSetup, boot: string | null = readBootId()) {
    const { durability, note, mount, kept, settings = defaultSettings } = setUp;
    this.#root = root;
    this.#boot = boot;
    this.#mount = mount;
    this.#note = note;
    const setup = { isFlushed: durability === "full", boot, settings };
    this.#homes = new Homes<UserId>({
      ...setup,
      homeOf: (userId) => (mount === undefined ? userHome(root, userId) : mountedHome(root, userId, mount.scope)),
      note,
      ...(kept && { kept }),
    });
    this.#stores = new FileSharedStores(root, { ...setup, note: (id, text) => note(`${storesFolder}/${id}`, text) });
    this.shared =
      mount === undefined
        ? storesWithRecords(this.#stores, (userId, ...asked) => this.holdRecords(userId, ...asked), note)
        : noSharedStores;
    this.erased = new FileErasures(root, this.#homes, this.#stores);
  }

  async hold<Result>(userId: UserId, options: HoldOptions, work: (held: HeldUser) => Promise<Result>): Promise<Result> {
    return await untilFresh(options, () => this.#hold(userId, options, work));
  }

  async holdRecords<Result>(
    userId: UserId,
    options: Omit<HoldOptions, "scopes" | "records">,
    work: (records: HeldRecords) => Promise<Result>,
  ): Promise<Result> {
    return await untilFresh(options, () => this.#hold(userId, options, ({ records }) => work(records)));
  }

  /** Opens a user's files as a thread's readers do. */
  openUser(userId: UserId): FileReader {
    return new FileReader(this.#homes.homeOf(userId));
  }

  /** Opens shared stores as a thread's readers do. */
  openShared(): UserReader {
    return new SharedFileReader(this.#root);
  }

  async holdToErase<Result>(
    userId: UserId,
    options: HoldToEraseOptions,
    work: (held: HeldToErase) => Promise<Result>,
  ): Promise<Result> {
    if (this.#mount !== undefined) throw new RangeError("A mounted folder is not erased");
    return await this.erased.hold(userId, options, work);
  }

  async users(): Promise<UserId[]> {
    return this.#mount === undefined ? listUsers(this.#root) : [];
  }

  async strays(): Promise<StoreFinding[]> {
    if (this.#mount !== undefined) return [];
    return [...strayFolders(this.#root), ...strayStores(this.#root), ...(await this.erased.findings())];
  }

  async parts(): Promise<readonly StorePart[]> {
    return [{ scopes: [] }];
  }

  isApart(): boolean {
    return this.#mount !== undefined;
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
    await this.#stores.close();
  }

  async #retireLeftOver(): Promise<void> {
    const ofUsers = {
      ids: () => (this.#mount === undefined ? listUsers(this.#root) : [this.#mount.userId]),
      homeOf: (userId: UserId) => this.#homes.homeOf(userId),
      retire: async (userId: UserId) => {
        const waiting = { make: false, readOnlyWillDo: true, until: performance.now() };
        const session = await this.#homes.open(userId, waiting);
        if (session !== null) await this.#homes.retireAndRelease(userId, session);
      },
      note: this.#note,
    };
    const { signal } = this.#closing;
    await retireLeftOver(ofUsers, signal);
    if (this.#mount !== undefined) return;
    await this.#stores.retireLeftOver(signal);
    // What cannot be removed now is, at the next start.
    if (!signal.aborted) await removeStagedHomes(this.#root).catch(() => {});
  }

  async #hold<Result>(
    userId: UserId,
    options: HoldOptions,
    work: (held: HeldUser & { readonly records: HeldRecords }) => Promise<Result>,
  ): Promise<Result> {
    // A crash during a first commit can leave the host's own folder without its lock file. Writing calls make one and
    // clean up under it.
    const { isReadOnly = false, isLookingOnly = false, isThorough = false } = options;
    const waiting = waitingFor(options);
    const homes = this.#homes;
    using _looking = isLookingOnly ? await homes.lockOnly(userId, waiting) : null;
    using reading = isReadOnly && !isLookingOnly ? await homes.lockFinished(userId, waiting) : null;
    if (isThorough) homes.forget(userId);
    let session = isLookingOnly || isReadOnly ? null : await homes.resume(userId, waiting, isThorough);
    let hasSucceeded = false;
    // Without a lock, somebody else can erase the user meanwhile.
    const isStill =
      isLookingOnly || reading?.isLocked || session !== null ? () => true : sameFolder(homes.homeOf(userId));
    const reader = new HeldReads(() => heldFiles(this.openUser(userId)));
    const known = homes.knownSizes(userId, options.writes ? session : null);
    let latest = known;
    const toWrite = async (): Promise<HomeSession> => {
      checkCommits(options);
      session ??= await homes.openFirst(userId, options);
      return session;
    };
    const history = homes.heldHistory(userId, () => session, reading?.tail ?? null);
    const recordsOf = (): HeldRecords =>
      heldFileRecords({ home: homes.homeOf(userId), session: () => session, history, toWrite });
    const note = (text: string): void => this.#note(userId, text);
    const deciding = (): DecidedRecords => ({ records: recordsOf(), history, note });
    try {
      const result = await work({
        reader,
        knownSizes: known,
        handed: session?.handed ?? null,
        findings: () => examineHome(homes.homeOf(userId), { boot: this.#boot, known: homes.tailOf(userId) }),
        history,
        get records() {
          return recordsOf();
        },
        commit: async (changes, seen, facts = {}) => {
          if (changes.length === 0) return;
          const { knownSizes = latest, facts: written = unstatedFacts(Date.now()), decision, ...more } = facts;
          const commit = async (): Promise<KnownSizes> =>
            (await toWrite()).commit(changes, seen, { ...more, facts: written, knownSizes });
          latest = await (decision === undefined ? commit() : commitDecided(decision, deciding(), commit));
          homes.sizes.keep(userId, (await toWrite()).tail, { sizes: latest, known });
          reader.forget();
          homes.noteUse(userId);
        },
      });
      if (session === null && !isStill()) throw new StaleCall();
      hasSucceeded = true;
      return result;
    } finally {
      reader.end();
      // After a failure, everything is looked at again.
      if (session !== null) homes[hasSucceeded ? "releaseLater" : "release"](userId, session);
    }
  }
}

/** Notes a home's folder, if there is one. Returns whether it is the same still. */
function sameFolder(home: Home): () => boolean {
  const identity = (): string | null => {
    using folder = HomeFolder.open(home);
    return folder?.home.identity ?? null;
  };
  const noted = identity();
  return () => identity() === noted;
}
