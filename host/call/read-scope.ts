import { placeIn } from "../../shared/abi.ts";
import type { HeldHome, HeldHomes } from "../store/held-homes.ts";
import type { HeldReader } from "../store/holding.ts";
import { storeHome } from "../store/home.ts";
import { digestOf } from "../store/reading.ts";
import { ContentOrigins } from "../store/versions/content-origins.ts";
import type { ContentOrigin } from "../store/versions/content-origins.ts";
import type { HeldHistory } from "../store/versions/held-history.ts";
import type { DecidedStores } from "../values/decided-stores.ts";
import { scopeOfStore } from "../values/store-id.ts";

/** The scopes of a user's home that a call's guest can read. */
export const scopesOfHome = ({ history, reader }: HeldHome, scopes: readonly string[]): ReadScope[] =>
  scopes.map((scope) => new ReadScope({ scope, history, reader, owner: "" }));

/** Those of shared stores that the caller reaches. */
export const scopesOfStores = (held: HeldHomes, { own, stores }: DecidedStores): ReadScope[] =>
  stores
    .filter(({ level }) => level !== null)
    .map(({ id }) => {
      const { history, reader } = held.of(storeHome(id));
      return new ReadScope({ scope: scopeOfStore(id), history, reader, owner: id === own ? "" : `${id}/` });
    });

interface ReadScopeParts {
  readonly scope: string;
  readonly history: HeldHistory;
  readonly reader: Pick<HeldReader, "list" | "bytesOf">;
  /** What stands before the names of its entries: nothing, or another's store. */
  readonly owner: string;
}

/** A scope that a call reads, with what its history says of the files. Valid as long as it is held. */
export class ReadScope {
  readonly scope: string;
  readonly owner: string;
  readonly #history: HeldHistory;
  readonly #reader: ReadScopeParts["reader"];
  readonly #origins: ContentOrigins;

  constructor({ scope, history, reader, owner }: ReadScopeParts) {
    this.scope = scope;
    this.owner = owner;
    this.#history = history;
    this.#reader = reader;
    this.#origins = new ContentOrigins(history);
  }

  /** What an answer's `shows` calls a file. */
  placeOf(path: string): string {
    return placeIn(this.scope, path);
  }

  /** The path in what an answer shows; `null` if it is of another scope. */
  pathAt(place: string): string | null {
    const before = this.placeOf("");
    return place.startsWith(before) ? place.slice(before.length) : null;
  }

  /** Whether anybody has said of any file where it comes from. */
  get hasStated(): boolean {
    return this.#history.hasStated;
  }

  /** `digest`: of the present content; `null` if it was not looked at. */
  originOf(path: string, digest: string | null): Promise<ContentOrigin> {
    return this.#origins.of(this.scope, path, digest);
  }

  /**
   * All files by path, without those of which no version knows, if they are the owner's. Looks at the disk only for what
   * the history cannot say. `isSure`: also reads files that no version knows, which can have been moved there by hand.
   */
  async files(isSure: boolean): Promise<ReadonlyMap<string, ContentOrigin>> {
    if (!isSure && this.#history.unknown === "owner_edit") return await this.#recorded();
    const { isBroken } = this.#history;
    const found = new Map<string, ContentOrigin>();
    for (const { path } of await this.#reader.list(this.scope, "")) {
      const isKnown = (await this.#history.originOf(this.scope, path)) !== null;
      const reads = isBroken || (isSure && !isKnown);
      const digest = reads ? digestOf(await this.#reader.bytesOf(this.scope, path)) : null;
      found.set(path, await this.originOf(path, digest));
    }
    return found;
  }

  async #recorded(): Promise<ReadonlyMap<string, ContentOrigin>> {
    const before = `${this.scope}:`;
    const all = Array.from(await this.#history.origins());
    const own = all.filter(([place]) => place.startsWith(before));
    return new Map(own.map(([place, origin]) => [place.slice(before.length), origin]));
  }
}
