/** A store of files, opened once or several times, and the history of its one user. */
import { readdirSync } from "node:fs";
import { join } from "node:path";

import type { OriginClass } from "../../shared/origin.ts";
import { lastSegment } from "../stage/journal.ts";
import { openFiles } from "../stage/open-store.ts";
import { unstatedFacts } from "../stage/store.ts";
import type { ChangeSet, CommitFacts, HeldHistory, OpenedStore, UserId } from "../stage/store.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { userFolder } from "../support/user-files.ts";
import { contentsOf, soon, write } from "./store-stage.ts";

const alice = "alice" as UserId;

export class FileStage implements AsyncDisposable {
  readonly #folder: Disposable & { readonly path: string };
  readonly #opened: OpenedStore[] = [];
  readonly notes: string[] = [];
  /** The folder of the one user, and a place beside it. */
  readonly user: string;
  readonly aside: string;
  store: OpenedStore;

  /** `folder`: where the data is; a fresh folder by default. */
  constructor(folder: Disposable & { readonly path: string } = temporaryFolder()) {
    this.#folder = folder;
    this.user = userFolder(folder.path, alice);
    this.aside = join(folder.path, "aside");
    this.store = this.beside();
  }

  /** Opens a second store beside the first, as another process does. It ends with the stage. */
  beside(): OpenedStore {
    const store = openFiles(this.#folder.path, (_owner, text) => void this.notes.push(text));
    this.#opened.push(store);
    return store;
  }

  /** As another process begins, after this one has ended. */
  async reopen(): Promise<void> {
    await this.store.close();
    this.store = this.beside();
  }

  async commit(
    changes: ChangeSet,
    of: OriginClass = "direct_user",
    more: CommitFacts & { readonly by?: OpenedStore } = {},
  ): Promise<void> {
    const facts = { ...unstatedFacts(Date.now()), class: of, trust: of };
    await (more.by ?? this.store).holdUser(alice, soon(), (held) =>
      held.commit(changes, held.reader.seen, { facts, ...more }),
    );
  }

  look<Found>(look: (held: HeldHistory) => Found | Promise<Found>): Promise<Found> {
    return this.store.holdUser(alice, { ...soon(), writes: false }, async (held) => look(held.history));
  }

  /** Each version's number and kind. */
  versions(): Promise<unknown[]> {
    return this.look(async (held) => (await held.versions()).map(({ seq, kind }) => (kind ? [seq, kind] : seq)));
  }

  trustOf(path: string): Promise<string> {
    return this.look(
      async (held) => (await held.originOf("memory", path))?.trust ?? `unknown: ${held.state().unknown}`,
    );
  }

  /** The contents of a file's versions, the oldest first; `null` if it was removed or the content is not kept. */
  contents(path: string): Promise<(string | null)[]> {
    return this.look(async (held) => (await contentsOf(held))[path] ?? []);
  }

  async findings(): Promise<string[]> {
    const options = { ...soon(), writes: false, isLookingOnly: true };
    const found = await this.store.holdUser(alice, options, (held) => held.findings());
    return found.map(({ code, message }) => `${code}: ${message}`);
  }

  /** A file or folder of the host's own. */
  own(name: string): string {
    return join(this.user, ".memcell", name);
  }

  get journal(): string {
    return this.own("journal");
  }

  /** The segment of the journal that is written to. */
  get segment(): string {
    return lastSegment(this.own(""));
  }

  /** Commits until the journal is long, so that it is packed when the user is idle. Returns its packed file. */
  async pack(): Promise<string> {
    const text = "what fills the journal ".repeat(3_000);
    for (let at = 0; at < 9; at++) await this.commit([write("filler.md", `${text}${at}`)]);
    await this.reopen();
    const packed = readdirSync(this.journal).filter((name) => name.endsWith(".log.gz"));
    return join(this.journal, packed.at(-1) ?? "nothing is packed");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const store of this.#opened) await store.close();
    this.#folder[Symbol.dispose]();
  }
}
