/**
 * The write-ahead log of formats 1 to 3: `.memcell/journal`, a file. It is only read, until the home has a journal.
 *
 *     0      checkpoint A    <mark> <version> <first sequence> <salt> <history's last version> <its hash> <mark> <check>\n
 *     2048   checkpoint B    the same; of the valid ones, the one with the higher sequence counts
 *     4094   one byte        "~" if the folders that lead to the log were never flushed
 *     4095   one byte        "!" if a flush has failed, so that the files cannot be trusted
 *     4096   records         record <sequence> <bytes> <check> <state><applied>\n, then as many bytes of JSON
 *
 * A checkpoint says how the history ends and which marks it has. A record is valid if it follows the one before it without a
 * gap, and its check is right, which covers the checkpoint's salt. Version 1 has no `applied`, and only version 3 has versions.
 */
import { hash } from "node:crypto";

import * as z from "../../../../shared/zod.ts";
import type { Directory, DiskFile } from "../../../disk/directory.ts";
import { inodeIn } from "../../../disk/folder-handle.ts";
import { orInstead } from "../../../values/tool-error.ts";
import { decodeBytes, digestOf, parseJson, storedBytesSchema } from "../../reading.ts";
import type { VersionHead } from "../../versions/version.ts";
import type { FileHome, HomeKind } from "../home.ts";
import { oldHistory } from "./format-3-history.ts";
import { JournalDamaged, factsFields, hasPlaces, journalLimits } from "./format.ts";
import type { HashedContent, HistoryMark } from "./format.ts";
import type { StoredFrame, Unsettled } from "./read-journal.ts";
import { journalFolder } from "./segments.ts";

/** Its name while a journal takes its place. */
export const keptLog = "journal-3";

const checkpointOffsets = [0, 2048] as const;
const checkpointBytesMax = 256;
const relaxedOffset = 4094;
const distrustOffset = 4095;
const recordsStart = 4096;

export interface OldLog extends Unsettled {
  /** Its name in the host's own folder. */
  readonly name: string;
  readonly isSetUp: boolean;
  /** It was set up without a flush. */
  readonly isRelaxed: boolean;
  /** It was set up before there was a history. */
  readonly isOfEarlierVersion: boolean;
  /** The number of the next record. */
  readonly next: number;
  /** What the history has at least, without its records; `null` if nobody has told. */
  readonly history: { readonly head: VersionHead; readonly mark: HistoryMark } | null;
  /** The versions of its records, of which some can be in the history already, and their contents. */
  readonly versions: readonly string[];
  readonly contents: readonly HashedContent[];
}

/**
 * `null` if the home has a journal, or has neither log nor history. Throws `JournalDamaged` if what is there is none, or is
 * another home's.
 */
export function readOldLog(own: Directory, home: FileHome): OldLog | null {
  using journal = orInstead(() => own.openFolder(journalFolder), null, "STORAGE_UNSAFE");
  if (journal !== null) return null;
  for (const name of [journalFolder, keptLog]) {
    if (own.identityOf(name) === null) continue;
    using file = own.openFile(name, name, "read");
    if (file !== null) return logIn(file, home, name);
  }
  // A history without its log has perhaps lost its last versions.
  return own.identityOf(oldHistory) === null ? null : noLog;
}

const noLog: OldLog = {
  name: keptLog,
  frames: [],
  isDistrusted: false,
  isSetUp: false,
  isRelaxed: false,
  isOfEarlierVersion: false,
  next: 1,
  history: null,
  versions: [],
  contents: [],
};

function logIn(file: DiskFile, { owner, kind }: FileHome, name: string): OldLog {
  const header = file.read(0, recordsStart);
  if (file.size() > journalLimits.fileBytesMax) throw new JournalDamaged("its write-ahead log is too large");
  const checkpoint = newestCheckpoint(header, owner);
  const isDistrusted = header[distrustOffset] === "!".charCodeAt(0);
  const isRelaxed = header[relaxedOffset] === "~".charCodeAt(0);
  const { version, first, salt, history } = checkpoint;
  // Anybody can make a record for an empty salt.
  const records = salt === "" ? [] : recordsIn(file, kind, checkpoint);
  const frames = records.map(({ record }) => record);
  const isOfEarlierVersion = salt !== "" && version < 3;
  const versions = records.flatMap(({ record }, at) => (records[at + 1]?.record.voids ? [] : record.versions));
  const contents = records.flatMap((each) => each.contents);
  const next = first + records.length;
  return {
    name,
    frames,
    isDistrusted,
    isRelaxed,
    isSetUp: salt !== "",
    isOfEarlierVersion,
    next,
    history,
    versions,
    contents,
  };
}

interface Checkpoint extends Pick<OldLog, "history"> {
  readonly version: number;
  readonly first: number;
  readonly salt: string;
}

const checkpointLine =
  /^(memcell-journal ([123]) (\d{15}) ([0-9a-f]{32})(?: (\d{15}) ([0-9a-f]{64}) (lost|late|none))?) ([0-9a-f]{64})\n/;

function newestCheckpoint(header: Buffer, owner: string): Checkpoint {
  const found = checkpointOffsets.flatMap((at): Checkpoint[] => {
    const read = checkpointLine.exec(header.subarray(at, at + checkpointBytesMax).toString("latin1"));
    const [, line = "", version, first, salt = "", seq, end = "", mark, check] = read ?? [];
    if (!read || hash("sha256", `${owner}\n${line}`) !== check) return [];
    const history = mark ? { head: { seq: Number(seq), hash: end }, mark: mark as HistoryMark } : null;
    return [{ version: Number(version), first: Number(first), salt, history }];
  });
  if (found.length === 0 && header.some((byte, at) => byte !== 0 && at !== relaxedOffset)) {
    throw new JournalDamaged("its write-ahead log has no valid checkpoint");
  }
  return found.toSorted((a, b) => b.first - a.first)[0] ?? { version: 3, first: 1, salt: "", history: null };
}

const headLine = /^record (\d{15}) (\d{15}) ([0-9a-f]{64}) ([+-])([\d-]{16})?\n$/;

interface FoundRecord {
  readonly record: StoredFrame;
  readonly contents: readonly HashedContent[];
}

/** All whole records. Anything behind the last one was never acknowledged. */
function recordsIn(file: DiskFile, kind: HomeKind, { version, first, salt }: Checkpoint): FoundRecord[] {
  const headBytes =
    `record ${"0".repeat(15)} ${"0".repeat(15)} ${"0".repeat(64)} +\n`.length + (version === 1 ? 0 : 16);
  const inode = inodeIn(file.identity);
  const found: FoundRecord[] = [];
  for (let at = recordsStart; ;) {
    const seq = first + found.length;
    const [line, number, length, check, state, time = "-"] =
      headLine.exec(file.read(at, headBytes).toString("latin1")) ?? [];
    const from = at + headBytes;
    if (line === undefined || Number(number) !== seq || from + Number(length) > file.size()) return found;
    const json = file.read(from, Number(length));
    if (hash("sha256", Buffer.concat([Buffer.from(`${salt} ${seq} ${json.length}\n`), json])) !== check) return found;
    const record = decodeRecord(json, kind);
    if (record === null) return found;
    const { edited = [], inode: recorded, versions = [], ...facts } = record;
    // In a copy of the home, all files have the times of the copying.
    const isCopied = recorded !== inode;
    const appliedUs = isCopied || time.includes("-") ? null : Number(time);
    const stagedUs = isCopied ? undefined : facts.stagedUs;
    const contents = [...edited, ...facts.files.flatMap(({ after }) => after ?? [])];
    found.push({
      record: { ...facts, seq, versions, isApplied: state === "+", appliedUs, stagedUs },
      contents: contents.map((content) => ({ sha256: digestOf(content) ?? "", content })),
    });
    at = from + json.length;
  }
}

const storedBytes = z.pipe(storedBytesSchema, z.transform(decodeBytes));

const recordSchema = z.strictObject({
  ...factsFields(storedBytes),
  /** Of the log's file. */
  inode: z.optional(z.string()),
  versions: z.optional(z.readonly(z.array(z.string()))),
  /** The contents of files that somebody has edited before. */
  edited: z.optional(z.readonly(z.array(storedBytes))),
  /** Once, changes of several stores were committed together. Each store's part counts alone. */
  joint: z.optional(z.unknown()),
});

/** `null` if it is none. */
function decodeRecord(json: Buffer, kind: HomeKind): Omit<z.infer<typeof recordSchema>, "joint"> | null {
  const parsed = z.safeParse(recordSchema, parseJson(json.toString("utf8")));
  if (!parsed.success || !hasPlaces(kind, parsed.data)) return null;
  const { joint: _joint, ...record } = parsed.data;
  return record;
}
