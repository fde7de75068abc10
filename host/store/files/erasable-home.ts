/** A home for whoever erases it: under its lock if any host can use it, whatever else is wrong with it. */
import { isForbidden } from "../../disk/disk-failure.ts";
import { ToolError } from "../../values/tool-error.ts";
import { HomeFolder } from "./home-folder.ts";
import { checkErasable } from "./home-owner.ts";
import type { HomeSession } from "./home-session.ts";
import { hostFolder } from "./home.ts";
import type { Home } from "./home.ts";

export class ErasableHome implements Disposable {
  readonly folder: HomeFolder;
  /** Where it is, in the data folder. */
  readonly shown: string;
  readonly #session: HomeSession | null;
  readonly #release: (session: HomeSession) => void;
  #isMoved = false;

  private constructor(folder: HomeFolder, home: Home, held: Held | null) {
    this.folder = folder;
    this.shown = home.names.join("/");
    this.#session = held?.session ?? null;
    this.#release = held?.release ?? (() => {});
  }

  /** `null` if there is no folder. Throws `STORAGE_UNSAFE` if it belongs to another. Takes no lock, and changes nothing. */
  static look(home: Home): ErasableHome | null {
    const folder = HomeFolder.open(home);
    if (folder === null) return null;
    try {
      checkErasable(() => folder.openOwn(), home);
      return new ErasableHome(folder, home, null);
    } catch (error) {
      folder[Symbol.dispose]();
      throw error;
    }
  }

  /** As `look`, under the lock. `release` gets what `lock` has returned. */
  static async hold(
    home: Home,
    lock: () => Promise<HomeSession | null>,
    release: (session: HomeSession) => void,
  ): Promise<ErasableHome | null> {
    const session = await lockIfUsable(home, lock);
    return session === null ? this.look(home) : new ErasableHome(session.place.folder, home, { session, release });
  }

  get isLocked(): boolean {
    return this.#session !== null;
  }

  /** Gives the home another name beside its own, durably. */
  async moveAway(newName: string): Promise<void> {
    this.#session?.place.check();
    await this.folder.moveAway(newName);
    this.#isMoved = true;
  }

  [Symbol.dispose](): void {
    if (this.#session === null) this.folder[Symbol.dispose]();
    // Nothing is left to retire.
    else if (this.#isMoved) this.#session[Symbol.dispose]();
    else this.#release(this.#session);
  }
}

interface Held {
  readonly session: HomeSession;
  readonly release: (session: HomeSession) => void;
}

/** A home that no host can use as it is has no holder, so it needs no lock. */
async function lockIfUsable(home: Home, lock: () => Promise<HomeSession | null>): Promise<HomeSession | null> {
  try {
    makeOwn(home);
    return await lock();
  } catch (error) {
    if (!isUnusable(error)) throw error;
    return null;
  }
}

/** Makes the host's own folder, and in it the lock, in a folder that a person has made. */
function makeOwn(home: Home): void {
  using folder = HomeFolder.open(home);
  if (folder !== null && folder.openOwn() === null) folder.home.makeFolder(hostFolder)[Symbol.dispose]();
}

const isUnusable = (error: unknown): boolean =>
  error instanceof ToolError && (unusable.has(error.code) || isForbidden(error));

/** On a full disk nobody can make the lock of a home that has none. */
const unusable: ReadonlySet<string> = new Set(["STORAGE_UNSAFE", "STORAGE_FULL"]);
