/** A store of files, opened once or several times, whose history a test looks at. */
import { readdirSync } from "node:fs";
import { join } from "node:path";

import { DiskRoot } from "../../host/disk/data-root.ts";
import { FileStore } from "../../host/store/files/file-store.ts";
import type { OriginClass } from "../../shared/origin.ts";
import { defaultSettings, unstatedFacts } from "../stage/store.ts";
import type { ChangeSet, HeldHistory, StoreSettings, UserId } from "../stage/store.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { userFolder } from "../support/user-files.ts";

export const alice = "alice" as UserId;

export class HistoryStage implements AsyncDisposable {
  readonly #folder: Disposable & { readonly path: string };
  readonly notes: string[] = [];
  store: FileStore;

  /** `folder`: where the data is; a fresh folder by default. */
  constructor(folder: Disposable & { readonly path: string } = temporaryFolder()) {
    this.#folder = folder;
    this.store = this.#open();
  }

  #open(settings: StoreSettings = defaultSettings): FileStore {
    const note = (_owner: string, text: string): void => void this.notes.push(text);
    return new FileStore(new DiskRoot(this.#folder.path), { durability: "full", note, settings });
  }

  /** As another process begins, after this one has ended. */
  async reopen(settings?: StoreSettings): Promise<void> {
    await this.store.close();
    this.store = this.#open(settings);
  }

  /** Opens a second store beside the first. */
  beside(): FileStore {
    return this.#open();
  }

  async commit(changes: ChangeSet, of: OriginClass = "direct_user", store = this.store): Promise<void> {
    const facts = { ...unstatedFacts(Date.now()), class: of, trust: of };
    await store.hold(alice, { writes: true, until: performance.now() + 9_000 }, (held) =>
      held.commit(changes, held.reader.seen, { facts }),
    );
  }

  look<Found>(look: (held: HeldHistory) => Found | Promise<Found>, options = {}): Promise<Found> {
    const hold = { writes: false, until: performance.now() + 9_000, ...options };
    return this.store.hold(alice, hold, async (held) => look(held.history));
  }

  /** The contents of a file's versions, the oldest first; `null` if it was removed or the content is not kept. */
  contents(path: string): Promise<(string | null)[]> {
    return this.look(async (held) => (await contentsOf(held))[path] ?? []);
  }

  async findings(): Promise<string[]> {
    const found = await this.store.hold(
      alice,
      { writes: false, isLookingOnly: true, until: performance.now() + 9_000 },
      (held) => held.findings(),
    );
    return found.map(({ code, message }) => `${code}: ${message}`);
  }

  get user(): string {
    return userFolder(this.#folder.path, alice);
  }

  get history(): string {
    return join(this.user, ".memcell", "history");
  }

  /** The one file with a name that begins like this. */
  file(beginning: string): string {
    const name = readdirSync(this.history).find((each) => each.startsWith(beginning));
    return join(this.history, name ?? "");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.store.close();
    this.#folder[Symbol.dispose]();
  }
}

/** The contents of all versions of each file, the oldest first; `null` if it was removed or the content is not kept. */
export async function contentsOf(held: HeldHistory): Promise<Record<string, (string | null)[]>> {
  const contents: Record<string, (string | null)[]> = {};
  for (const { path, sha256 } of (await held.versions()).flatMap(({ files }) => files)) {
    const content = sha256 === null ? null : ((await held.contentsOf([sha256])).get(sha256) ?? null);
    (contents[path] ??= []).push(content && Buffer.from(content).toString());
  }
  return contents;
}
