/**
 * Reads a history, in its folder and in the WAL: versions, contents, what they tell of the present files, and what is wrong
 * with them.
 */
import * as z from "../../../../shared/zod.ts";
import type { Directory } from "../../../disk/directory.ts";
import { replaceFile } from "../../../disk/replace-file.ts";
import { ToolError } from "../../../values/tool-error.ts";
import { giveTurn } from "../../../values/turns.ts";
import type { Pieces } from "../../../values/turns.ts";
import type { StoreFinding } from "../../reading.ts";
import { PresentOrigins, loweredSchema, originSchema } from "../../versions/present-origins.ts";
import type { FileOrigin, KnownOrigins } from "../../versions/present-origins.ts";
import { faultInHistory, isSameHead, lostTrust, readLine, sha256Schema } from "../../versions/version.ts";
import type { PlannedVersion, Version, VersionHead } from "../../versions/version.ts";
import { WalDamaged, versionsInRecords } from "../commit/wal-format.ts";
import type { HistoryEnd, WrittenVersion } from "../commit/wal-format.ts";
import { Wal } from "../commit/wal.ts";
import { hostFolder } from "../home.ts";
import type { FileHome } from "../home.ts";
import { contentsOfSegment } from "./content-line.ts";
import type { ContentBases } from "./content-line.ts";
import { HistoryFolder, historyFolder, readBounded } from "./history-folder.ts";

/** Where the versions of a home are. */
export interface WholeHistory {
  readonly history: HistoryFolder | null;
  /** Those of the WAL, of which some can be in the history already. */
  readonly queued: readonly WrittenVersion[];
}

/** What is known of a home's history. */
export interface KnownHistory extends KnownOrigins {
  /** Versions since `present.json` was written. */
  unwritten: number;
}

/** A history that was checked under the lock, for those who add to it. */
export interface CheckedHistory extends KnownHistory {
  /** Of the last segment. */
  readonly bases: ContentBases;
}

export function* loadHistory(whole: WholeHistory, wal: Wal | null): Pieces<KnownHistory> {
  const { history } = whole;
  const origins = (history && (yield* readPresent(history))) ?? new PresentOrigins();
  // Whoever sets a WAL up makes the folder too.
  const hasNoFolder = history === null && wal !== null && wal.isSetUp && !wal.isOfEarlierVersion;
  // A WAL that is gone, or that somebody has emptied, had perhaps the last versions.
  const isWalGone = wal === null || (!wal.isSetUp && !wal.isRelaxed);
  const hasNoWal = isWalGone && history !== null && history.segments("versions").length > 0;
  const end = wal?.history ?? null;
  // Another version has the number of the one with which the history ended.
  const isOther = (head: VersionHead): boolean => head.seq === end?.head.seq && !isSameHead(head, end.head);
  let isBroken = hasNoFolder || hasNoWal || history?.hasLost === true || end?.mark === "lost" || isOther(origins.head);
  let unwritten = 0;
  for (const { version, head } of versionsFrom(whole, origins.head.seq + 1)) {
    yield;
    if (version.seq <= origins.head.seq) continue;
    isBroken ||= version.seq !== origins.head.seq + 1 || version.prev !== origins.head.hash || isOther(head);
    origins.add(version, head);
    unwritten++;
  }
  isBroken ||= end !== null && origins.head.seq < end.head.seq;
  const beganLate = history?.beganLate === true || wal?.isOfEarlierVersion === true || end?.mark === "late";
  return { origins, unknown: isBroken ? lostTrust : beganLate ? "unstated" : "owner_edit", isBroken, unwritten };
}

/** What a WAL says of its history, once it has no versions of it any more. */
export const historyEnd = ({ origins, isBroken, unknown }: KnownHistory): HistoryEnd => ({
  head: origins.head,
  mark: isBroken ? "lost" : unknown === "owner_edit" ? "none" : "late",
});

/** All versions, the oldest first. */
export function* versionsIn(whole: WholeHistory): Pieces<Version[]> {
  const versions: Version[] = [];
  for (const { version } of versionsFrom(whole, 1)) {
    yield;
    versions.push(version);
  }
  return versions;
}

/**
 * The versions from one number on, in order; what is no version's line is left out. Those of the WAL count where both have
 * a number: a crash can have torn what was being moved.
 */
function* versionsFrom({ history, queued }: WholeHistory, from: number): Generator<PlannedVersion> {
  const end = queued[0]?.version.seq ?? Infinity;
  for (const line of history?.versionLines(from) ?? []) {
    const read = readLine(line);
    if (read !== null && read.version.seq >= from && read.version.seq < end) yield read;
  }
  yield* queued;
}

/** Contents by their hashes, without those that are not kept or are damaged. Reads each segment once. */
export function* contentsOf({ history, queued }: WholeHistory, hashes: Iterable<string>): Pieces<Map<string, Buffer>> {
  const wanted = new Set(hashes);
  const found = new Map<string, Buffer>();
  for (const { sha256, content } of queued.flatMap(({ contents }) => contents)) {
    if (wanted.delete(sha256)) found.set(sha256, content);
  }
  for (const first of history?.segments("contents").toReversed() ?? []) {
    if (wanted.size === 0) break;
    const lines = history === null ? [] : yield* history.readLines("contents", first);
    for (const each of contentsOfSegment(lines, (sha256) => wanted.has(sha256))) {
      yield;
      if (each && wanted.delete(each.sha256)) found.set(each.sha256, each.content);
    }
  }
  return found;
}

/**
 * Where the present files come from, up to some version: so that not all versions are read again, and so that old ones
 * can be dropped. What it says is never more than what the versions said.
 */
const presentFile = "present.json";
const presentStaged = "present-staged";

const presentSchema = z.strictObject({
  head: z.strictObject({ seq: z.int(), hash: sha256Schema }),
  files: z.array(z.unknown()),
  runs: z.optional(z.array(loweredSchema)),
});
const fileSchema = z.strictObject({ place: z.string(), origin: originSchema });

/** `null` if there is none that can be read. */
function* readPresent(history: HistoryFolder): Pieces<PresentOrigins | null> {
  try {
    using file = history.folder.openFile(presentFile, presentFile, "read");
    const parsed = file && z.safeParse(presentSchema, JSON.parse(readBounded(file, "present").toString("utf8")));
    if (!parsed?.success) return null;
    const { head, files, runs } = parsed.data;
    const origins: [place: string, origin: FileOrigin][] = [];
    for (const each of files) {
      yield;
      const { data: known } = z.safeParse(fileSchema, each);
      if (known === undefined) return null;
      origins.push([known.place, known.origin]);
    }
    return new PresentOrigins(head, origins, runs);
  } catch {
    return null;
  }
}

/** Durable once the folder is flushed. */
export async function writePresent({ folder }: HistoryFolder, origins: PresentOrigins): Promise<void> {
  const files: string[] = [];
  for (const [place, of] of origins.entries()) {
    await giveTurn();
    files.push(JSON.stringify({ place, origin: of }));
  }
  const [head, runs] = [origins.head, origins.loweredRuns].map((part) => JSON.stringify(part));
  const content = Buffer.from(`{"head":${head},"files":[${files.join(",")}],"runs":${runs}}`);
  await replaceFile(folder, presentFile, { content, shown: presentFile, staged: presentStaged });
}

type Fault = Pick<StoreFinding, "message" | "remedy">;

/** What is wrong with a history. Every line is read, and compared with the one before. */
export function* historyFindings(own: Directory, home: FileHome): Pieces<StoreFinding[]> {
  using history = HistoryFolder.open(own);
  using wal = openWal(own, home);
  const fault = (history && (yield* faultIn(history))) ?? (yield* cut(history, wal));
  return fault === null ? [] : [{ code: "history-broken", path: `${hostFolder}/${historyFolder}`, ...fault }];
}

/** What is gone cannot be put back. Whoever holds the home for writing begins another one. */
const gone = (what: string): Fault => ({
  message: `${what} missing: no file has any trust`,
  remedy: "begin another one, by which no file until now has any trust: first put back what you have a copy of",
});

/** `null` if there is none; `undefined` if it cannot be read, which is a finding of its own. */
function openWal(own: Directory, home: FileHome): Wal | null | undefined {
  try {
    return Wal.open(own, home, { isRead: true });
  } catch (error) {
    if (error instanceof WalDamaged || error instanceof ToolError) return undefined;
    throw error;
  }
}

/** What the WAL says that the history does not: it is gone, its end was cut off, or one of its marks removed. */
function* cut(history: HistoryFolder | null, wal: Wal | null | undefined): Pieces<Fault | null> {
  if (history?.hasLost === true || wal === undefined) return null;
  const { isBroken } = yield* loadHistory({ history, queued: yield* versionsInRecords(wal?.records ?? []) }, wal);
  if (isBroken) return gone(history === null ? "it is" : "the last versions or a mark of it, or its log, are");
  const isLate = wal?.history?.mark === "late" && history?.beganLate === false;
  return isLate ? { message: "the mark is missing that it began after the first files", remedy: null } : null;
}

function* faultIn(history: HistoryFolder): Pieces<Fault | null> {
  const [oldest = 1] = history.segments("versions");
  // Old versions are dropped, a segment at a time, when `present.json` says what they have left.
  const hasLostOld = oldest > 1 && (yield* readPresent(history)) === null;
  const message = hasLostOld
    ? `the versions before ${oldest} are missing`
    : yield* faultInHistory(history.versionLines(), null, oldest);
  return message === null ? null : { message, remedy: null };
}
