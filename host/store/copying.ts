/**
 * Reads and writes whole homes, so that everything can be moved from one engine to another. What an engine makes of a home
 * for itself, such as a write-ahead log, is not part of it.
 */
import type { OriginClass } from "../../shared/origin.ts";
import type { StoreId, UserId } from "../values/ids.ts";
import type { StoreGrant } from "../values/store-grant.ts";
import type { RecordKind } from "./home.ts";
import type { StoreFinding, UnfitFile } from "./reading.ts";
import type { FileOrigin } from "./versions/present-origins.ts";

/** The scopes and records of a user, or a store. Each is held, copied and compared on its own. */
export type HomeName =
  | { readonly kind: "user"; readonly id: UserId }
  | { readonly kind: "store"; readonly id: StoreId };

export interface CopiedFile {
  readonly scope: string;
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
  /** As listings show it. A disk shows the time of the copying: no program can set it. */
  readonly changedUs: number;
  /** When the content was written. It is the same on both sides. */
  readonly writtenUs: number;
}

/** Of a history: a content that it keeps. */
export interface KeptContent {
  readonly sha256: string;
  readonly bytes: number;
}

export interface CopiedRecord {
  readonly kind: RecordKind;
  readonly name: string;
  readonly text: string;
}

/** Everything about a home but its contents. */
export interface CopiedHome {
  /** With the trash and with a store's grants, sorted by scope and path. */
  readonly files: readonly CopiedFile[];
  /** Of a user, also those without files. */
  readonly scopes: readonly string[];
  /** The versions, as they are kept. The first can have a higher number than 1. */
  readonly lines: readonly string[];
  /** By `placeKey`. More than the versions say if old ones were dropped. */
  readonly origins: ReadonlyMap<string, FileOrigin>;
  /** Where files come from that no version knows. */
  readonly unknown: OriginClass;
  /** Versions are missing. */
  readonly isBroken: boolean;
  /** Each once, in the order in which versions have written them. */
  readonly kept: readonly KeptContent[];
  /** When old contents were last looked for. */
  readonly agedMs: number;
  /** Sorted by kind and name. */
  readonly records: readonly CopiedRecord[];
  /** The user whose own store it is, as far as that is on record. */
  readonly creator: UserId | null;
}

/** A home that is held at one moment. Must not be used after the work has ended. */
export interface HomeContent extends CopiedHome {
  /** Of files and of kept contents. Throws `BUSY` if somebody edits the files meanwhile. */
  contentsOf(hashes: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>>;
  /** What is there and cannot be copied, because no tool can read it. */
  readonly leftOut: readonly UnfitFile[];
}

/** With what the text of a store's grants says, which no store reads. */
export interface WrittenHome extends HomeContent {
  readonly grants: readonly StoreGrant[];
}

export interface StoreCopy extends AsyncDisposable {
  /** In no order. */
  homes(): Promise<HomeName[]>;

  /** What lies among the homes but is not one. */
  strays(): Promise<StoreFinding[]>;

  /** Whether an erasure is not finished: what others have granted the user is still there. */
  hasErasures(): Promise<boolean>;

  /**
   * Runs work on a home as it is at one moment: nobody changes it meanwhile, or the work does not see it. `null` if there
   * is none. First finishes what a crash has left.
   */
  hold<Result>(home: HomeName, work: (content: HomeContent | null) => Promise<Result>): Promise<Result>;

  /** Puts a whole home where nothing is, all or nothing, durably. Returns `false`, and writes nothing, if something is. */
  write(home: HomeName, content: WrittenHome): Promise<boolean>;

  /** The stores that principals leave out. */
  leftStores(): Promise<ReadonlyMap<StoreId, readonly StoreId[]>>;

  /** Notes that a principal leaves out stores, whether they have granted it anything or not. */
  leaveStores(principal: StoreId, stores: readonly StoreId[]): Promise<void>;
}

/** What both engines need to open a copy. */
export interface CopySettings {
  readonly durability: "full" | "relaxed";
  /** How long to wait for a home that others use. */
  readonly waitMs: number;
}

/** Parts of a list, each of a bounded number and a bounded sum of bytes; one at least that has more. */
export function* inParts<Item extends { readonly bytes: number }>(
  items: Iterable<Item>,
  { itemsMax, bytesMax }: { readonly itemsMax: number; readonly bytesMax: number },
): Generator<Item[]> {
  let part: Item[] = [];
  let bytes = 0;
  for (const item of items) {
    if (part.length > 0 && (part.length >= itemsMax || bytes + item.bytes > bytesMax)) {
      yield part;
      [part, bytes] = [[], 0];
    }
    part.push(item);
    bytes += item.bytes;
  }
  if (part.length > 0) yield part;
}
