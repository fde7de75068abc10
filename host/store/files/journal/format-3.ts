/** Brings a home of format 1, 2 or 3 into a journal: its log at once, its history when the home is settled. */
import type { Directory } from "../../../disk/directory.ts";
import { isFullDisk } from "../../../disk/disk-failure.ts";
import { noHash } from "../../../log-file/chain.ts";
import { atOnce, giveTurn } from "../../../values/turns.ts";
import { digestOf } from "../../reading.ts";
import { noVersion, parseLine } from "../../versions/version.ts";
import type { FileHome } from "../home.ts";
import { OldHistory, oldHistory } from "./format-3-history.ts";
import { keptLog } from "./format-3-log.ts";
import type { OldLog } from "./format-3-log.ts";
import { contentLine, encodeFrame, encodeHeader } from "./format.ts";
import type { HashedContent, NewFrame } from "./format.ts";
import { hasLostJournal, oldMark } from "./history.ts";
import { flushJournalEnd } from "./journal-end.ts";
import { Journal } from "./journal.ts";
import { pack, placeOne } from "./prune.ts";
import type { StoredFrame } from "./read-journal.ts";
import { journalFolder } from "./segments.ts";

const staged = "journal-new";

/**
 * Makes a journal of a log, durably: each record is a frame that is not settled. The log is kept under another name until that
 * is on the disk.
 */
export async function openInJournal(own: Directory, home: FileHome, log: OldLog): Promise<void> {
  {
    using leftOver = own.openFolder(staged);
    await leftOver?.removeTree();
    own.removeFolder(staged);
  }
  using history = OldHistory.open(own);
  try {
    await writeJournal(own, home, { log, history });
  } catch (error) {
    if (!isFullDisk(error) || history === null) throw error;
    // There a purge must work too.
    history.dropContents();
    await writeJournal(own, home, { log, history });
  }
  if (log.name === journalFolder) own.rename(journalFolder, own, keptLog);
  own.rename(staged, own, journalFolder);
  await own.flush();
  if (own.measure(keptLog) !== null) own.remove(keptLog);
}

async function writeJournal(
  own: Directory,
  home: FileHome,
  { log, history }: { readonly log: OldLog; readonly history: OldHistory | null },
): Promise<void> {
  // Segments of the history are named after versions, and come before it.
  const lastVersion = Math.max(log.history?.head.seq ?? 0, lastOf(history));
  const next = Math.max(log.next, lastVersion + 1);
  using journal = Journal.make(own, home, {
    next,
    mark: hasLostJournal(own) ? "lost" : oldMark(log, history),
    folder: staged,
  });
  journal.begin(log.history?.head ?? noVersion, log);
  for (const frame of log.frames) {
    await journal.append(frameOf(frame, log.contents), noVersion, false);
    if (frame.isApplied) journal.markApplied(frame.appliedUs);
  }
  await journal.flush();
  await flushJournalEnd(own);
}

/** The number of the last version of a history. */
function lastOf(history: OldHistory | null): number {
  const lines = history?.linesOf(history.segments.at(-1) ?? 0) ?? [];
  return Math.max(0, ...lines.slice(-1).map((line) => parseLine(line)?.seq ?? 0), history?.segments.at(-1) ?? 0);
}

function frameOf(
  { boot, stagedUs, kept, files, voids, versions }: StoredFrame,
  all: readonly HashedContent[],
): NewFrame {
  const named = files.map(({ after, ...file }) => Object.assign(file, { after: digestOf(after) }));
  const text = versions.join("\n");
  const contents = new Map<string, HashedContent>();
  for (const { after } of files) {
    const sha256 = digestOf(after);
    if (after !== null && sha256 !== null) contents.set(sha256, { sha256, content: after });
  }
  for (const each of all) if (text.includes(each.sha256)) contents.set(each.sha256, each);
  return { facts: { boot, stagedUs, kept, files: named, voids }, versions, contents: [...contents.values()] };
}

export const hasOldHistory = (own: Directory): boolean => own.identityOf(oldHistory) !== null;

interface OldHistoryHolder {
  readonly home: FileHome;
  readonly journal: Journal;
  /** Writes where the present files come from: the history goes that says it. */
  readonly writePresent: () => Promise<void>;
}

/**
 * Packs a history into segments that come before the journal's own, and removes it, durably. Where there is no room, its contents
 * go: a purge must reach them. A segment that the journal has already, and versions that it has, are left out.
 */
export async function packOldHistory(own: Directory, { home, journal, writePresent }: OldHistoryHolder): Promise<void> {
  {
    using history = OldHistory.open(own);
    try {
      await packOldSegments(history, home, journal);
      await writePresent();
    } catch (error) {
      if (isFullDisk(error)) history?.dropContents();
      throw error;
    }
    await history?.folder.removeTree();
  }
  own.removeFolder(oldHistory);
  await own.flush();
}

async function packOldSegments(
  history: OldHistory | null,
  home: FileHome,
  { folder, segments }: Journal,
): Promise<void> {
  const taken = new Set(segments.all.map(({ first }) => first));
  const [line = ""] = segments.versionLines();
  let before = parseLine(line)?.seq ?? Infinity;
  // The latest first: what is packed already is not read from the history any more.
  for (const first of history?.segments.toReversed() ?? []) {
    await giveTurn();
    const versions = history?.linesOf(first).filter((each) => (parseLine(each)?.seq ?? before) < before) ?? [];
    if (history === null || taken.has(first) || versions.length === 0) continue;
    const contents = Array.from(history.contentsIn(first)).flatMap((each) => each ?? []);
    await placeOne(folder, { first, ...(await packVersions(home.owner, first, { versions, contents })) });
    before = Math.min(before, parseLine(versions[0] ?? "")?.seq ?? before);
  }
  await folder.flush();
}

/** A packed segment of one frame. Its number is that of the segment. */
export async function packVersions(
  owner: string,
  first: number,
  { versions, contents }: Pick<NewFrame, "versions" | "contents">,
): Promise<{ readonly log: Buffer; readonly contents: Buffer }> {
  const state = { settled: first, isRelaxed: false, isDistrusted: false };
  const header = encodeHeader({ first, prev: noHash, head: noVersion, mark: "none", inode: "" }, state, owner);
  const frame = atOnce(encodeFrame(first, header.hash, { facts: { boot: null, files: [] }, versions, contents: [] }));
  const lines: Buffer[] = [];
  for (const each of contents) lines.push(...contentLine(each));
  return await pack({ log: Buffer.concat([header.bytes, frame.head, frame.body]), contents: Buffer.concat(lines) });
}
