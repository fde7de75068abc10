import { readBootId } from "../../../disk/boot-id.ts";
import { DiskRoot } from "../../../disk/data-root.ts";
import type { StoreId } from "../../../values/store-id.ts";
import { ToolError } from "../../../values/tool-error.ts";
import type { CopySettings, HomeContent, HomeName, StoreCopy, WrittenHome } from "../../copying.ts";
import { isLive } from "../../grant-hints.ts";
import type { StoreFinding } from "../../holding.ts";
import { storeHome, userHome } from "../../home.ts";
import { readErasedName } from "../erase-mark.ts";
import { listStores, listUsers, strayFolders, strayStores } from "../found-homes.ts";
import { GrantedHints } from "../granted-hints.ts";
import { fileHome, storesFolder, usersFolder } from "../home.ts";
import type { FileHome } from "../home.ts";
import { Homes } from "../homes.ts";
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
  readonly #homes: Homes;
  readonly #hints: GrantedHints;

  constructor(root: DiskRoot, settings: CopySettings) {
    this.#root = root;
    this.#settings = settings;
    const isFlushed = settings.durability === "full";
    const history = { history: everything, clock: Date.now };
    this.#homes = new Homes({ isFlushed, boot: readBootId(), settings: history, note: () => {} });
    this.#hints = new GrantedHints(root, isFlushed);
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
    const until = performance.now() + this.#settings.waitMs;
    const session = await this.#homes.open(this.#homeOf(home), { make: true, readOnlyWillDo: false, until });
    try {
      // Then the history has everything.
      await session?.retire(true);
      return await work(await readHome(this.#homeOf(home)));
    } finally {
      if (session !== null) this.#homes.releaseUnchanged(session);
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
    await this.#homes.close();
  }

  #homeOf(home: HomeName): FileHome {
    return fileHome(home.kind === "user" ? userHome(home.id) : storeHome(home.id), this.#root);
  }
}
