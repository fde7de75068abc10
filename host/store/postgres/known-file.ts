import type { OriginClass } from "../../../shared/origin.ts";
import { digestOf } from "../reading.ts";
import { placeKey } from "../versions/present-origins.ts";
import type { FileOrigin } from "../versions/present-origins.ts";
import type { VersionKind } from "../versions/version.ts";
import type { Row } from "./statements.ts";

/** A file as the database has it. */
export interface KnownFile {
  readonly scope: string;
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
  readonly changedUs: number;
  /** `null` if no version has written it. */
  readonly origin: FileOrigin | null;
  /** `null` if it was not asked for, or is not what the hash says. */
  readonly content: Buffer | null;
}

/** A place without a file. */
export interface FreePlace {
  readonly scope: string;
  readonly path: string;
  /** Why there can be none: files are below it, or one is in the place of one of its folders. */
  readonly obstacle: "folder" | "file" | null;
}

/** Why a file cannot be used whose content was changed beside the host. */
export const notAsRecorded = "its content has another hash than the database records";

export const isKnownFile = (found: KnownFile | FreePlace): found is KnownFile => "sha256" in found;

export function fileOf(row: Row): KnownFile {
  const { scope, path, sha256, bytes, changed_us: changedUs, content = null } = row as unknown as FileRow;
  const isWhole = content !== null && digestOf(content) === sha256;
  return { scope, path, sha256, bytes, changedUs, origin: originOf(row), content: isWhole ? content : null };
}

/** Of a row of `find_files`. */
export function placeOf(row: Row): KnownFile | FreePlace {
  if (row["sha256"] !== null) return fileOf(row);
  const { scope, path, obstacle } = row as unknown as FreePlace;
  return { scope, path, obstacle };
}

function originOf(row: Row): FileOrigin | null {
  const { origin_seq: seq, origin_sha256: sha256, origin_ms: atMs, ...origin } = row as unknown as FileRow;
  if (seq === null || sha256 === null || atMs === null) return null;
  const kind = origin.origin_kind as VersionKind | null;
  return {
    seq,
    sha256,
    class: origin.origin_class as OriginClass,
    trust: origin.origin_trust as OriginClass,
    atMs,
    ...(kind && { kind }),
  };
}

/** By place, without those of files that no version has written. */
export function originsIn(rows: readonly Row[]): [string, FileOrigin][] {
  return rows.flatMap((row): [string, FileOrigin][] => {
    const origin = originOf(row);
    return origin === null ? [] : [[placeKey({ scope: String(row["scope"]), path: String(row["path"]) }), origin]];
  });
}

interface FileRow {
  readonly scope: string;
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
  readonly changed_us: number;
  readonly content?: Buffer | null;
  readonly origin_seq: number | null;
  readonly origin_sha256: string | null;
  readonly origin_class: string | null;
  readonly origin_trust: string | null;
  readonly origin_ms: number | null;
  readonly origin_kind: string | null;
}
