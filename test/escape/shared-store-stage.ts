/** Shared stores on a disk, and what can still be done with one of them after an attack. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { fileStore } from "memcell";

import { openReaders, scopeOfStore } from "../stage/store.ts";
import type { Change, NewGrants, Store, StoreId, UserId } from "../stage/store.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** What each use of a store ends with: `ok`, or the error's code. */
export interface StoreOutcomes {
  readonly read: string;
  readonly guest: string;
  readonly write: string;
  readonly grants: string;
}

export const storeId = (at: number): StoreId => `${String(at).padStart(8, "0")}-1111-4111-8111-111111111111` as StoreId;
export const principal = storeId(0) as string as UserId;
export const neighbour = storeId(99_999_999);

export class SharedStoreStage implements AsyncDisposable {
  readonly #folder = temporaryFolder();
  readonly dataDir = join(this.#folder.path, "data");
  /** Has the same places as a store. */
  readonly outside = join(this.#folder.path, "outside");
  readonly store: Store;
  readonly notes: string[] = [];

  constructor() {
    this.store = fileStore({ dir: this.dataDir }).open((_owner, text) => void this.notes.push(text));
    for (const each of ["entries/trash", ".memcell/granted"]) mkdirSync(join(this.outside, each), { recursive: true });
    const files = ["entries/x.md", ".memcell/owner", ".memcell/lock", ".memcell/turnstile", ".memcell/journal"];
    for (const each of [...files, ".memcell/grants.json"]) writeFileSync(join(this.outside, each), "outside");
  }

  folderOf(id: StoreId): string {
    return join(this.dataDir, "stores", id);
  }

  /** Makes a store with an entry and grants. */
  async make(id: StoreId): Promise<void> {
    await this.#hold(id, true, (held) =>
      held.commit({ by: principal, ...writing(id, "x.md", "as it was"), seen: [], grants: grantsOf(id, "{}") }),
    );
  }

  /** Uses a store in each way. A use of an attacked store must end, and harm no other. */
  async use(id: StoreId): Promise<StoreOutcomes> {
    const guest = async (): Promise<void> => {
      const location = { kind: "files", dir: this.dataDir, mounts: [] } as const;
      using reader = openReaders(location, () => ({}) as never).openShared();
      reader.read(scopeOfStore(id), "x.md");
      reader.list(scopeOfStore(id), "");
    };
    return {
      read: await codeOf(this.#hold(id, false, (held) => held.reader(id).bytesOf("entries", "x.md"))),
      guest: await codeOf(guest()),
      write: await codeOf(
        this.#hold(id, true, (held) => held.commit({ by: principal, ...writing(id, "x.md", "written"), seen: [] })),
      ),
      grants: await codeOf(this.#hold(id, true, (held) => held.reader(id).bytesOf("grants", "grants.json"))),
    };
  }

  async #hold<Result>(
    id: StoreId,
    writes: boolean,
    work: Parameters<typeof this.store.shared.hold<Result>>[2],
  ): Promise<Result> {
    return await this.store.shared.hold([id], { writes, until: performance.now() + 10_000 }, work);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.store.close();
    this.#folder[Symbol.dispose]();
  }
}

export const writing = (id: StoreId, path: string, content: string): { changes: [Change] } => ({
  changes: [{ kind: "write", scope: scopeOfStore(id), path, content }],
});

export const grantsOf = (id: StoreId, content: string, grantees: StoreId[] = []): Map<StoreId, NewGrants> => {
  const granted = grantees.map((grantee) => ({ grantee, level: "read" as const, grantedMs: 1, expiresMs: null }));
  return new Map([[id, { content, granted, nowMs: 0 }]]);
};

export async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return "ok";
  } catch (error) {
    return String((error as { code?: unknown }).code ?? error);
  }
}
