import { readBootId } from "../../../disk/boot-id.ts";
import { DiskRoot } from "../../../disk/data-root.ts";
import type { StoreId } from "../../../values/store-id.ts";
import { ToolError } from "../../../values/tool-error.ts";
import type { UserId } from "../../../values/user-id.ts";
import type { CopySettings, HomeContent, HomeName, StoreCopy, WrittenHome } from "../../copying.ts";
import { isLive } from "../../grant-hints.ts";
import type { StoreFinding } from "../../store.ts";
import { readErasedName } from "../erased-names.ts";
import type { HomeSession } from "../home-session.ts";
import { storeHome, storesFolder, userHome, usersFolder } from "../home.ts";
import type { Home } from "../home.ts";
import { Homes } from "../homes.ts";
import { listUsers, strayFolders } from "../list-users.ts";
import { GrantedHints } from "../shared/granted-hints.ts";
import { lockRecovered } from "../shared/lock-recovered.ts";
import { listStores, strayStores } from "../shared/store-facts.ts";
import { readHome } from "./read-home.ts";
import { removeStagedHomes } from "./staged-home.ts";
import { writeHome } from "./write-home.ts";

/** Throws `ENTRY_NOT_FOUND` if there is no folder to read. */
export async function openFileCopy(dir: string, settings: CopySettings, isSource: boolean): Promise<StoreCopy> {
  const root = new DiskRoot(dir);
  if (isSource) {
    using folder = root.open();
    if (folder === null) throw new ToolError("ENTRY_NOT_FOUND", "Cannot copy: there is no such data folder");
  } else await removeStagedHomes(root);
  return new FileCopy(root, settings);
}

/** To keep what the policy of a host keeps, nothing is aged or pruned here. */
const everything = { daysMax: Infinity, bytesMax: Infinity };

class FileCopy implements StoreCopy {
  readonly #root: DiskRoot;
  readonly #settings: CopySettings;
  readonly #users: Homes<UserId>;
  readonly #stores: Homes<StoreId>;
  readonly #hints: GrantedHints;

  constructor(root: DiskRoot, settings: CopySettings) {
    this.#root = root;
    this.#settings = settings;
    const setup = {
      isFlushed: settings.durability === "full",
      boot: readBootId(),
      settings: { history: everything, clock: Date.now },
      note: () => {},
    };
    this.#users = new Homes<UserId>({ ...setup, homeOf: (id) => userHome(root, id) });
    this.#stores = new Homes<StoreId>({ ...setup, homeOf: (id) => storeHome(root, id) });
    this.#hints = new GrantedHints(root, setup.isFlushed);
  }

  async homes(): Promise<HomeName[]> {
    return [
      ...listUsers(this.#root).map((id): HomeName => ({ kind: "user", id })),
      ...listStores(this.#root).map((id): HomeName => ({ kind: "store", id })),
    ];
  }

  async strays(): Promise<StoreFinding[]> {
    return [...strayFolders(this.#root), ...strayStores(this.#root)];
  }

  async hasErasures(): Promise<boolean> {
    using data = this.#root.open();
    return [usersFolder, storesFolder].some((place) => {
      using above = data && data.openFolder(place);
      return above?.entries().some(({ name }) => readErasedName(name) !== null) ?? false;
    });
  }

  async hold<Result>(home: HomeName, work: (content: HomeContent | null) => Promise<Result>): Promise<Result> {
    const session = await this.#lock(home);
    try {
      // Then the history has everything.
      await session?.retire(true);
      return await work(await readHome(this.#homeOf(home)));
    } finally {
      if (session !== null) this.#release(home, session);
    }
  }

  async write(home: HomeName, content: WrittenHome): Promise<boolean> {
    const { id } = home;
    return await writeHome(this.#homeOf(home), content, {
      isFlushed: this.#settings.durability === "full",
      // A hint without a grant does no harm, but a grant without a hint is not found.
      beforeNamed: async () => {
        const nowMs = Date.now();
        const granted = home.kind === "store" ? content.grants.filter((each) => isLive(each, nowMs)) : [];
        for (const each of granted) await this.#hints.add(id as StoreId, each, nowMs);
      },
    });
  }

  async leftStores(): Promise<Map<StoreId, StoreId[]>> {
    return this.#hints.leftOfAll();
  }

  async leaveStores(principal: StoreId, stores: readonly StoreId[]): Promise<void> {
    await this.#hints.leaveAll(principal, stores);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#users.close();
    await this.#stores.close();
  }

  async #lock(home: HomeName): Promise<HomeSession | null> {
    const until = performance.now() + this.#settings.waitMs;
    const waiting = { make: true, readOnlyWillDo: false, until };
    if (home.kind === "user") return await this.#users.open(home.id, waiting);
    const locked = await lockRecovered({ root: this.#root, homes: this.#stores }, [home.id], waiting);
    return locked.release()[0]?.[1] ?? null;
  }

  #release(home: HomeName, session: HomeSession): void {
    if (home.kind === "user") this.#users.releaseUnchanged(home.id, session);
    else this.#stores.releaseUnchanged(home.id, session);
  }

  #homeOf(home: HomeName): Home {
    return home.kind === "user" ? userHome(this.#root, home.id) : storeHome(this.#root, home.id);
  }
}
