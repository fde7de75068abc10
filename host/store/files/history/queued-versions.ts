import type { Pieces } from "../../../values/turns.ts";
import { digestOf } from "../../reading.ts";
import type { PlannedVersion } from "../../versions/plan-versions.ts";
import { parseLine } from "../../versions/version-line.ts";
import type { Version } from "../../versions/version.ts";
import type { WalRecord } from "../commit/wal-format.ts";
import type { ContentBases, WrittenContent } from "./content-bases.ts";

/** The versions of one record of the WAL, which are not in the history yet. As text: many wait, and few are looked at. */
export interface QueuedVersions {
  /** The number of the first. */
  readonly first: number;
  /** One for each version. */
  readonly lines: readonly string[];
  /** Lines with the contents that they have written. */
  readonly contents: readonly string[];
}

export function* queuedVersions(
  versions: readonly Pick<PlannedVersion, "version" | "line">[],
  written: readonly WrittenContent[],
  bases: ContentBases,
): Pieces<QueuedVersions[]> {
  const first = versions[0]?.version.seq;
  if (first === undefined) return [];
  const contents: string[] = [];
  for (const each of written) {
    yield;
    contents.push(bases.encode(each));
  }
  return [{ first, lines: versions.map(({ line }) => line), contents }];
}

/** The versions of records, without those of changes that were taken back. */
export function* versionsInRecords(
  records: readonly Pick<WalRecord, "versions" | "edited" | "files" | "voids">[],
  bases: ContentBases,
): Pieces<QueuedVersions[]> {
  const queued: QueuedVersions[] = [];
  for (const [at, record] of records.entries()) {
    yield;
    if (records[at + 1]?.voids) continue;
    const versions = (record.versions ?? []).flatMap(parsed);
    queued.push(...(yield* queuedVersions(versions, yield* writtenIn(record, versions), bases)));
  }
  return queued;
}

function parsed(line: string): { readonly version: Version; readonly line: string }[] {
  const version = parseLine(line);
  return version === null ? [] : [{ version, line }];
}

/** The contents that versions name and a record has. */
function* writtenIn(
  { files, edited = [] }: Pick<WalRecord, "edited" | "files">,
  versions: readonly Pick<PlannedVersion, "version">[],
): Pieces<WrittenContent[]> {
  if (versions.length === 0) return [];
  const byDigest = new Map<string | null, Buffer>(edited.map((content) => [digestOf(content), content]));
  for (const { after } of files) {
    yield;
    if (after !== null) byDigest.set(digestOf(after), after);
  }
  return versions.flatMap(({ version }) =>
    version.files.flatMap(({ scope, path, sha256, from }) => {
      const content = byDigest.get(sha256);
      if (sha256 === null || from !== undefined || content === undefined) return [];
      return [{ key: `${scope}:${path}`, sha256, content }];
    }),
  );
}
