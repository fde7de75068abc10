import type { Seen } from "../../values/change-set.ts";
import type { FileOrigin } from "../versions/present-origins.ts";
import type { VersionHead } from "../versions/version.ts";
import type { HomePlace } from "./home-place.ts";
import type { Statement } from "./statements.ts";

/** A file as it is after the change set. */
export interface PutFile {
  readonly scope: string;
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
  /** `null` if the home has the content. */
  readonly content: Buffer | null;
  /** `null` if no version says where it comes from. */
  readonly origin: FileOrigin | null;
}

export interface DatabaseChange {
  readonly id: string;
  readonly userId: string | null;
  /** What it is based on. */
  readonly seen: readonly Seen[];
  readonly gone: readonly { readonly scope: string; readonly path: string }[];
  readonly put: readonly PutFile[];
  /** Contents that the history shall not keep, by their hashes. */
  readonly forgotten: readonly string[];
  readonly lines: readonly string[];
  /** The history's end after it; `null` if it does not change. */
  readonly head: VersionHead | null;
  /** When old contents were looked for; `null` if they were not. */
  readonly agedMs: number | null;
  readonly keptBytesMax: number;
}

export function commitChange({ tenant, kind }: HomePlace, change: DatabaseChange): Statement {
  const { seen, gone, put } = change;
  const values = [
    [tenant, kind, change.userId, change.id, nowUs()],
    [column(seen, "scope"), column(seen, "path"), seen.map(({ digest }) => bytesOf(digest))],
    [column(gone, "scope"), column(gone, "path")],
    [column(put, "scope"), column(put, "path"), put.map(({ sha256 }) => bytesOf(sha256)), column(put, "bytes")],
    [ofOrigins(put, "seq"), ofOrigins(put, "class"), ofOrigins(put, "trust"), ofOrigins(put, "atMs")],
    [ofOrigins(put, "kind"), column(put, "content"), change.forgotten.map(bytesOf)],
    [change.lines, change.head?.seq ?? null, change.head?.hash ?? null, change.agedMs, change.keptBytesMax],
  ].flat();
  return { text: `SELECT memcell.commit_change(${values.map((_, at) => `$${at + 1}`).join(", ")})`, values };
}

const column = <Item, Name extends keyof Item>(items: readonly Item[], name: Name): Item[Name][] =>
  items.map((item) => item[name]);

const ofOrigins = (put: readonly PutFile[], name: keyof FileOrigin): unknown[] =>
  put.map(({ origin }) => origin?.[name] ?? null);

const bytesOf = (sha256: string | null): Buffer | null => (sha256 === null ? null : Buffer.from(sha256, "hex"));

const nowUs = (): number => Math.round((performance.timeOrigin + performance.now()) * 1_000);
