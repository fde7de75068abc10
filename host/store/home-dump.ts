/** A whole home, as one engine gives it to another. What an engine makes of it for itself, such as a log, is no part of it. */
import type { OriginClass } from "../../shared/origin.ts";
import type { Place } from "../values/change-set.ts";
import type { UserId } from "../values/ids.ts";
import { ToolError } from "../values/tool-error.ts";
import type { RecordKind } from "./home.ts";
import type { UnfitFile } from "./reading.ts";
import type { FileOrigin } from "./versions/present-origins.ts";
import { readLine } from "./versions/version.ts";
import type { PlannedVersion } from "./versions/version.ts";

/** Must not be used after the work has ended that holds the home. */
export interface HomeDump {
  /** With the trash and with a store's grants, sorted by scope and path. */
  readonly files: readonly DumpedFile[];
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
  readonly records: readonly DumpedRecord[];
  /** The user whose own store it is, as far as that is on record. */
  readonly creator: UserId | null;
  /** What is there and cannot be copied, because no tool can read it. */
  readonly leftOut: readonly UnfitFile[];
  /** Of files and of kept contents. Throws `BUSY` if somebody edits the files meanwhile. */
  readonly contentsOf: (hashes: readonly string[]) => Promise<ReadonlyMap<string, Uint8Array>>;
}

export interface DumpedFile extends Place {
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

export interface DumpedRecord {
  readonly kind: RecordKind;
  readonly name: string;
  readonly text: string;
}

/** Items with their contents. Throws `STORAGE_FAILED` if one is missing. */
export async function withContents<Item extends { readonly sha256: string }>(
  { contentsOf }: HomeDump,
  items: readonly Item[],
): Promise<(Item & { readonly content: Buffer })[]> {
  const found = items.length === 0 ? null : await contentsOf(items.map(({ sha256 }) => sha256));
  return items.map((item) => {
    const content = found?.get(item.sha256);
    if (content === undefined) throw new ToolError("STORAGE_FAILED", "Cannot copy: a content is missing");
    return Object.assign({ content: Buffer.from(content) }, item);
  });
}

/** A version with the contents that go when it does, if a history has too many. */
export interface DumpedVersion extends PlannedVersion {
  readonly kept: KeptContent[];
  /** Of its line and these contents. */
  bytes: number;
}

/** The last version that has a content keeps it. What only dropped versions have had goes with the oldest that is left. */
export function versionsIn({ lines, kept }: HomeDump): readonly DumpedVersion[] {
  const read = lines.flatMap((line) => readLine(line) ?? []);
  const versions = read.map((each): DumpedVersion => Object.assign({}, each, { kept: [], bytes: each.line.length }));
  const lastWith = new Map(versions.flatMap((each) => each.version.files.map(({ sha256 }) => [sha256, each])));
  for (const content of kept) {
    const by = lastWith.get(content.sha256) ?? versions[0];
    if (by === undefined) break;
    by.kept.push(content);
    by.bytes += content.bytes;
  }
  return versions;
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
