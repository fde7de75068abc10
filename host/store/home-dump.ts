/** A whole home, as one engine gives it to another. What an engine makes of it for itself, such as a log, is no part of it. */
import type { OriginClass } from "../../shared/origin.ts";
import type { Place } from "../values/change-set.ts";
import type { UserId } from "../values/ids.ts";
import type { RecordKind } from "./home.ts";
import type { FileOrigin } from "./versions/present-origins.ts";

export interface HomeDump {
  /** Of a user, also those without files. */
  readonly scopes: readonly string[];
  /** Where files come from that no version knows; `lostTrust` if versions are missing. */
  readonly unknown: OriginClass;
  /** When old contents were last looked for. */
  readonly agedMs: number;
  /** The user whose own store it is, as far as that is on record. */
  readonly creator: UserId | null;
  /**
   * Can be read once, as long as the home is held. Throws `BUSY` if somebody edits a file meanwhile, and `STORAGE_FAILED` if
   * a content is missing.
   */
  readonly pieces: AsyncIterable<HomePiece>;
}

/** `bytes`: of its content or text. */
export type HomePiece = { readonly bytes: number } & (
  | DumpedFile
  /** What a version says of a file that somebody has removed by hand since. A database has none. */
  | ({ readonly kind: "gone"; readonly origin: FileOrigin } & Place)
  /** A line, as it is kept. They come in order; the first can have a higher number than 1. */
  | { readonly kind: "version"; readonly line: string }
  /** A content that the history keeps for versions before it. It can come again. */
  | { readonly kind: "kept"; readonly sha256: string; readonly content: Buffer }
  | { readonly kind: "record"; readonly of: RecordKind; readonly name: string; readonly text: string }
  /** What is there and cannot be copied, because no tool can read it. */
  | { readonly kind: "left out"; readonly path: string; readonly reason: string }
);

/** Also in the trash, or a store's grants. They come in the order of their last changes. */
interface DumpedFile extends Place {
  readonly kind: "file";
  readonly sha256: string;
  readonly content: Buffer;
  /** As listings show it. A disk shows the time of the copying: no program can set it. */
  readonly changedUs: number;
  /** When the content was written. It is the same on both sides. */
  readonly writtenUs: number;
  /** `null` if no version has left it. Its version can have been dropped. */
  readonly origin: FileOrigin | null;
  /** Somebody has moved it by hand: the origin is that of its former place, which is "gone". A folder finds that itself. */
  readonly isMoved?: boolean;
}

interface BatchBounds<Item> {
  readonly itemsMax: number;
  readonly bytesMax: number;
  /** Whether a batch can begin with it. Default: yes. */
  readonly begins?: (item: Item) => boolean;
}

/** Items together, of a bounded number and a bounded sum of bytes; one at least that has more. */
export async function* inBatches<Item extends { readonly bytes: number }>(
  items: AsyncIterable<Item> | Iterable<Item>,
  { itemsMax, bytesMax, begins = () => true }: BatchBounds<Item>,
): AsyncGenerator<Item[]> {
  let [batch, bytes]: [Item[], number] = [[], 0];
  for await (const item of items) {
    const isFull = batch.length >= itemsMax || bytes + item.bytes > bytesMax;
    if (isFull && batch.length > 0 && begins(item)) {
      yield batch;
      [batch, bytes] = [[], 0];
    }
    batch.push(item);
    bytes += item.bytes;
  }
  if (batch.length > 0) yield batch;
}
