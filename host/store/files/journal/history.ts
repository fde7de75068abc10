/**
 * What the history of a home says: its versions and contents, what they tell of the present files, and what is wrong with them. They
 * are in the segments of its journal, or where earlier formats have them.
 */
import type { Directory } from "../../../disk/directory.ts";
import type { ClockReading } from "../../../values/clock-reading.ts";
import { orInstead } from "../../../values/tool-error.ts";
import type { Pieces } from "../../../values/turns.ts";
import type { StoreFinding } from "../../reading.ts";
import { PresentOrigins } from "../../versions/present-origins.ts";
import type { KnownOrigins } from "../../versions/present-origins.ts";
import { faultInHistory, isSameHead, lostTrust, parseLine, readLine } from "../../versions/version.ts";
import type { Version, VersionHead } from "../../versions/version.ts";
import { hostFolder } from "../home.ts";
import type { FileHome } from "../home.ts";
import { OldHistory } from "./format-3-history.ts";
import { readOldLog } from "./format-3-log.ts";
import type { OldLog } from "./format-3-log.ts";
import type { HashedContent, HistoryMark } from "./format.ts";
import { readJournalEnd } from "./journal-end.ts";
import { Journal } from "./journal.ts";
import { readPresent } from "./present.ts";
import type { AddedFrame } from "./read-journal.ts";
import { journalFolder } from "./segments.ts";
import type { Segments } from "./segments.ts";

/** A journal that cannot be read is renamed to this and a number. */
export const damagedPrefix = "journal-damaged-";

/** What is known of a home's history. */
export interface KnownHistory extends KnownOrigins {
  /** Versions since `present.json` was written. */
  unwritten: number;
  /** When old contents were last looked for. */
  aged: ClockReading | null;
  /** When the oldest version was made; absent until somebody has looked. */
  oldestMs?: number;
}

/** Where the versions and contents of a home are. */
export class HistoryFiles implements Disposable {
  readonly segments: Segments | null;
  readonly old: OldHistory | null;
  readonly #log: OldLog | null;

  /** The home is held, and perhaps has a journal, or else the log of an earlier format. */
  constructor(
    own: Directory,
    { journal = null, log = null }: { readonly journal?: Journal | null; readonly log?: OldLog | null },
  ) {
    this.segments = journal?.segments ?? null;
    this.old = OldHistory.open(own);
    this.#log = log;
  }

  /** Of all versions that count, the oldest first; of segments from one on. */
  *versionLines(segment = 0): Generator<string> {
    if (segment === 0) yield* this.#oldLines();
    yield* this.segments?.versionLines(segment) ?? [];
  }

  /** Those of the log and of segments count where both have a number: a crash can have torn what was being moved. */
  *#oldLines(): Generator<string> {
    if (this.old === null && this.#log === null) return;
    const queued = this.#log?.versions ?? [];
    const [first = queued[0] ?? ""] = this.segments?.versionLines() ?? [];
    const before = parseLine(first)?.seq ?? Infinity;
    for (const line of this.old?.versionLines() ?? []) {
      if ((parseLine(line)?.seq ?? before) < before) yield line;
    }
    yield* queued;
  }

  /** All versions, the oldest first; what is no version's line is left out. */
  *versions(): Pieces<Version[]> {
    const versions: Version[] = [];
    for (const line of this.versionLines()) {
      yield;
      const version = parseLine(line);
      if (version !== null) versions.push(version);
    }
    return versions;
  }

  /** By their hashes, without those that are not kept or are damaged. */
  *contentsOf(hashes: Iterable<string>): Pieces<Map<string, Buffer>> {
    const wanted = new Set(hashes);
    const found = this.segments === null ? new Map<string, Buffer>() : yield* this.segments.contentsOf(wanted);
    for (const { sha256, content } of this.#log?.contents ?? []) if (wanted.has(sha256)) found.set(sha256, content);
    const isWanted = (sha256: string): boolean => wanted.has(sha256) && !found.has(sha256);
    for (const each of this.old?.contents(isWanted) ?? []) {
      yield;
      if (each) found.set(each.sha256, each.content);
    }
    return found;
  }

  /**
   * The lines of all versions, and behind those of each segment the contents that it keeps, or nothing where others can have a
   * turn. Without a version, contents are of no use.
   */
  *kept(): Generator<string | HashedContent | void> {
    const parts = this.#keptParts();
    let hasVersions = false;
    for (const line of this.versionLines()) {
      const seq = parseLine(line)?.seq;
      // What is no version's line does not count, and breaks the chain.
      if (seq === undefined) continue;
      const isPast = hasVersions && (parts[1]?.first ?? Infinity) <= seq;
      const past = isPast
        ? parts.splice(
            0,
            parts.findLastIndex(({ first }) => first <= seq),
          )
        : [];
      for (const { contents } of past) yield* contents();
      hasVersions = true;
      yield line;
    }
    for (const { contents } of hasVersions ? parts : []) yield* contents();
  }

  /** The contents of each segment, the oldest first. `first`: the first version from there on. */
  #keptParts(): { readonly first: number; readonly contents: () => Iterable<HashedContent | void> }[] {
    const [old, log, segments] = [this.old, this.#log, this.segments];
    const ofOld = old?.segments.map((first) => ({ first, contents: () => old.contentsIn(first) })) ?? [];
    const ofLog = log === null ? [] : [{ first: firstIn(log.versions), contents: () => log.contents }];
    const ofJournal = segments?.all.map((segment) => ({
      first: firstIn(segments.versionLines(segment.first)),
      contents: () => segments.contentsIn(segment),
    }));
    return [...ofOld, ...ofLog, ...(ofJournal ?? [])];
  }

  [Symbol.dispose](): void {
    this.old?.[Symbol.dispose]();
  }
}

/** The number of the first version; if there is none, more than any. */
function firstIn(lines: Iterable<string>): number {
  for (const line of lines) {
    const version = parseLine(line);
    if (version !== null) return version.seq;
  }
  return Infinity;
}

/** Where the history of a home is read from. */
export interface HistorySource {
  readonly own: Directory;
  readonly home: FileHome;
  readonly journal: Journal | null;
  /** The log of an earlier format, if there is no journal. */
  readonly log: OldLog | null;
}

export function* loadHistory(from: HistorySource): Pieces<KnownHistory> {
  using files = new HistoryFiles(from.own, from);
  const { own, journal, log } = from;
  const isLost = journal === null ? hasLostJournal(own) : isCut(own, journal);
  const mark = isLost ? "lost" : (journal?.mark ?? oldMark(log, files.old));
  const end = journal === null ? (log?.history?.head ?? null) : journal.headBefore;
  const present = journal && (yield* readPresent(journal.folder));
  if (present !== null) {
    const known = stateOf(present.origins, mark, present.aged);
    const before = files.segments?.headBefore(present.segment) ?? null;
    const isTied = before !== null && isSameHead(before, known.origins.head);
    const followed = yield* follow(known, files.versionLines(present.segment), { end, mark, isTied });
    if (followed !== null) return followed;
  }
  // What it says of files counts only if the history has the version that it names.
  const older = files.old && (yield* readPresent(files.old.folder));
  const aged = files.old?.aged ?? null;
  if (older !== null) {
    const known = stateOf(older.origins, mark, aged);
    const followed = yield* follow(known, files.versionLines(), { end, mark, isTied: false });
    if (followed !== null) return followed;
  }
  const known = stateOf(new PresentOrigins(), mark, aged);
  // Without a journal, nothing else says that there were versions until then.
  const last = journal === null ? (end ?? older?.origins.head ?? null) : end;
  return (yield* follow(known, files.versionLines(), { end: last, mark, isTied: true })) ?? known;
}

/** Whether there was a journal, of a home that has none. */
export function hasLostJournal(own: Directory): boolean {
  const end = readJournalEnd(own);
  const isLost = end === "unreadable" || (end !== null && end !== "empty" && end.seq > 0);
  return isLost || hasDamaged(own);
}

/** Whether something of a journal was put aside. */
const hasDamaged = (own: Directory): boolean => own.entries().some(({ name }) => name.startsWith(damagedPrefix));

/** Whether the journal ends before its last frames were settled. */
function isCut(own: Directory, journal: Journal): boolean {
  const end = readJournalEnd(own);
  if (end === null || typeof end === "string") return !journal.isRelaxed;
  const { seq, hash } = journal.end;
  const isOlder = end.seq > seq || (end.seq === seq && end.hash !== hash);
  return isOlder || (journal.mark !== "lost" && hasDamaged(own));
}

/** What formats 2 and 3 say of the versions; "none" of a home that has neither log nor history. */
export function oldMark(log: OldLog | null, old: OldHistory | null): HistoryMark {
  // Whoever set a log up made the folder too.
  const hasNoFolder = old === null && log !== null && log.isSetUp && !log.isOfEarlierVersion;
  // A log that is gone, or that somebody has emptied, had perhaps the last versions.
  const isLogGone = log === null || (!log.isSetUp && !log.isRelaxed);
  const hasNoLog = isLogGone && old !== null && !old.isEmpty;
  const isLost = hasNoFolder || hasNoLog || old?.hasLost === true || log?.history?.mark === "lost";
  const isLate = old?.beganLate === true || log?.isOfEarlierVersion === true || log?.history?.mark === "late";
  return isLost ? "lost" : isLate ? "late" : "none";
}

const stateOf = (origins: PresentOrigins, mark: HistoryMark, aged: ClockReading | null = null): KnownHistory => ({
  origins,
  unknown: mark === "lost" ? lostTrust : mark === "late" ? "unstated" : "owner_edit",
  isBroken: mark === "lost",
  unwritten: 0,
  aged,
});

/** What a journal says of its versions until now. */
export const markOf = ({ isBroken, unknown }: Pick<KnownOrigins, "isBroken" | "unknown">): HistoryMark =>
  isBroken ? "lost" : unknown === "owner_edit" ? "none" : "late";

/** Whether another version has the number of one that is known. */
const isOther = (head: VersionHead, known: VersionHead | null): boolean =>
  known !== null && head.seq === known.seq && !isSameHead(head, known);

/**
 * Takes over the versions that come after those that are known. `end`: a version that must be among them. `null` if the last
 * known one is not met, unless it `isTied` to them already.
 */
function* follow(
  { origins, aged }: KnownHistory,
  lines: Iterable<string>,
  { end, mark, isTied }: { readonly end: VersionHead | null; readonly mark: HistoryMark; readonly isTied: boolean },
): Pieces<KnownHistory | null> {
  const base = origins.head;
  let isMet = isTied || (base.seq > 0 && end !== null && isSameHead(base, end));
  let isBroken = mark === "lost" || isOther(origins.head, end);
  let unwritten = 0;
  for (const line of lines) {
    yield;
    const read = readLine(line);
    if (read === null) continue;
    const { version, head } = read;
    isMet ||= isSameHead(head, base) || (base.seq > 0 && version.seq === base.seq + 1 && version.prev === base.hash);
    isBroken ||= isOther(head, origins.head);
    if (version.seq <= origins.head.seq) continue;
    isBroken ||= version.seq !== origins.head.seq + 1 || version.prev !== origins.head.hash || isOther(head, end);
    origins.add(version, head);
    unwritten++;
  }
  isBroken ||= end !== null && origins.head.seq < end.seq;
  return isMet ? { ...stateOf(origins, isBroken ? "lost" : mark, aged), unwritten } : null;
}

/** Takes over what was added to a history that is known. Returns `false` if it does not follow, or a change was taken back. */
export function takeOver(known: KnownHistory, frames: readonly AddedFrame[]): boolean {
  if (frames.some(({ isVoiding }) => isVoiding)) return false;
  for (const line of frames.flatMap(({ versions }) => versions)) {
    const read = readLine(line);
    const { head } = known.origins;
    if (read?.version.seq !== head.seq + 1 || read.version.prev !== head.hash) return false;
    known.origins.add(read.version, read.head);
    known.unwritten++;
  }
  return true;
}

type Fault = Pick<StoreFinding, "message" | "remedy">;

/** What is wrong with a history. Every line is read, and compared with the one before. */
export function* historyFindings(own: Directory, home: FileHome): Pieces<StoreFinding[]> {
  const fault = yield* faultIn(own, home);
  return fault === null ? [] : [{ code: "history-broken", path: `${hostFolder}/${journalFolder}`, ...fault }];
}

function* faultIn(own: Directory, home: FileHome): Pieces<Fault | null> {
  // That it cannot be read is a finding of its own.
  const read = orInstead(() => openHistory(own, home), "unreadable");
  if (read === "unreadable") return null;
  using journal = read.journal;
  const from = { own, home, ...read };
  using files = new HistoryFiles(own, from);
  const { value: first } = files.versionLines().next() as IteratorResult<string, void>;
  const oldest = parseLine(first ?? "")?.seq ?? 1;
  // Old versions are dropped, a segment at a time, when `present.json` says what they have left.
  const folder = files.old?.folder ?? journal?.folder;
  const hasLostOld = oldest > 1 && folder !== undefined && (yield* readPresent(folder)) === null;
  const message = hasLostOld
    ? `the versions before ${oldest} are missing`
    : yield* faultInHistory(files.versionLines(), null, oldest);
  if (message !== null) return { message, remedy: null };
  const { isBroken } = yield* loadHistory(from);
  const isTold = journal?.hasSegment === true && journal.mark === "lost";
  return isBroken && !isTold ? lost : null;
}

/** What is gone cannot be put back. Whoever holds the home for writing begins another one. */
const lost: Fault = {
  message: "it is missing, or its last versions are: no file has any trust",
  remedy: "begin another one, by which no file until now has any trust: first put back what you have a copy of",
};

/** The journal of a home that is only read, or the log of an earlier format. */
export function openHistory(own: Directory, home: FileHome): Pick<HistorySource, "journal" | "log"> {
  const journal = Journal.open(own, home, { isRead: true });
  return { journal, log: journal === null ? readOldLog(own, home) : null };
}
