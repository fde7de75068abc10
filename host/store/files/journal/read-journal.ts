/** Reads where a journal ends, and its frames that are not settled. */
import type { Directory, DiskFile } from "../../../disk/directory.ts";
import { inodeIn } from "../../../disk/folder-handle.ts";
import { noHash } from "../../../log-file/chain.ts";
import type { FileHome, HomeKind } from "../home.ts";
import {
  JournalDamaged,
  contentLines,
  decodeContent,
  decodeFacts,
  decodeHeader,
  headBytes,
  headerBytes,
  isPassing,
  isVoiding,
  journalLimits,
  readFrame,
} from "./format.ts";
import type { FoundFrame, FrameFacts, FramePlace, HistoryMark, ReadHeader, ReadPart, SegmentState } from "./format.ts";
import type { JournalEnd } from "./journal-end.ts";
import { Segments, logName, logNumber, segmentsIn } from "./segments.ts";

/** A file of a frame, with its new content; `null` if it is removed. */
export interface RecordedFile extends Omit<FrameFacts["files"][number], "after"> {
  readonly after: Buffer | null;
}

/** A frame that counts, and is not settled. Its times are unknown in a copy of the home. */
export interface StoredFrame extends Pick<FrameFacts, "boot" | "stagedUs" | "kept" | "voids"> {
  readonly seq: number;
  readonly files: readonly RecordedFile[];
  readonly versions: readonly string[];
  readonly isApplied: boolean;
  /** `null` if that is unknown. */
  readonly appliedUs: number | null;
}

/** The last frame. */
export const endOf = ({ next, lastHash }: JournalTail): JournalEnd => ({ seq: next - 1, hash: lastHash });

/** What recovery has to know of a journal, or of the log of an earlier format. */
export interface Unsettled {
  readonly frames: readonly StoredFrame[];
  /** A flush has failed. */
  readonly isDistrusted: boolean;
}

/** What the history takes over of a frame. */
export interface AddedFrame {
  readonly versions: readonly string[];
  /** The change of the frame before does not count. */
  readonly isVoiding: boolean;
}

/** Where a journal ends, and what a process remembers of it once all of its frames are applied. */
export interface JournalTail extends FramePlace {
  /** The number of its last segment. */
  readonly first: number;
  /** Of that one's file. */
  readonly identity: string;
  /** Where its last frame begins; 0 if it has none. */
  readonly last: number;
  /** The hash of the last frame, wherever that is. */
  readonly lastHash: string;
  readonly settled: number;
  /**
   * Whether the segment and its name are known to be on the disk. Whoever has applied a frame of it has flushed both, unless
   * its durability was relaxed.
   */
  readonly isSure: boolean;
}

/** Whether nothing has been added. */
export const isSameTail = (a: JournalTail, b: JournalTail): boolean => a.next === b.next && a.lastHash === b.lastHash;

/** What is read of a journal. */
export interface ReadJournal extends Unsettled {
  /** What other processes have added since it was remembered. */
  readonly added: readonly AddedFrame[];
  readonly segment: OpenSegment | null;
  readonly state: SegmentState;
  readonly tail: JournalTail;
  readonly mark: HistoryMark;
  readonly isContinued: boolean;
  /** The last frame of which nobody needs all texts once it is settled; 0 if there is none. */
  readonly lastPassing: number;
}

export interface OpenSegment {
  readonly file: DiskFile;
  readonly header: ReadHeader;
}

export interface JournalSource {
  readonly folder: Directory;
  readonly home: FileHome;
  readonly use: "read" | "write";
}

/**
 * Reads only what other processes have added since the journal was remembered; `null` if recovery can be necessary, or if it
 * is another one: then all frames are read that are not settled. `boot`: the machine's, or `null`.
 */
export function readOn(from: JournalSource, known: JournalTail, boot: string | null): ReadJournal | null {
  // Another process has begun another one.
  if (from.folder.entries().some(({ name }) => logNumber(name) > known.first)) return null;
  const segment = openSegment(from, known.first);
  try {
    const read =
      segment?.file.identity === known.identity ? addedTo(segment, known, { kind: from.home.kind, boot }) : null;
    if (read === null) segment?.file[Symbol.dispose]();
    return read;
  } catch (error) {
    segment?.file[Symbol.dispose]();
    throw error;
  }
}

function addedTo(
  segment: OpenSegment,
  known: JournalTail,
  { kind, boot }: { readonly kind: HomeKind; readonly boot: string | null },
): ReadJournal | null {
  const { file, header } = segment;
  const { state } = header;
  const at = known.last > 0 ? file.read(known.last, headBytes) : Buffer.from(known.hash);
  // Another one can have been copied over it.
  const isSame = known.last > 0 ? isAppliedFrame(at, known.hash) : header.hash === known.hash;
  if (state.isDistrusted || !isSame) return null;
  const walk = walkFrames(segment, known, kind);
  if (isOfOtherBoot(walk.frames, boot) || walk.frames.at(-1)?.isApplied === false) return null;
  const settled = Math.min(Math.max(known.settled, state.settled), walk.tail.next - 1);
  const isSure = (known.isSure || walk.frames.length > 0) && !state.isRelaxed;
  const tail = { ...walk.tail, first: known.first, identity: file.identity, settled, isSure };
  const { frames, added, lastPassing } = walk;
  return {
    segment,
    state,
    tail,
    mark: header.mark,
    frames,
    added,
    isDistrusted: false,
    isContinued: true,
    lastPassing,
  };
}

const isAppliedFrame = (head: Buffer, hash: string): boolean => {
  const text = head.toString("latin1");
  return text.includes(`"${hash}","applied":"+`);
};

/** Reads the last segment, and those before it that have frames which are not settled; `null` if there is none. */
export function readAll(from: JournalSource): ReadJournal | null {
  const logs = segmentsIn(from.folder).flatMap(({ first, kind }) => (kind === "log" ? [first] : []));
  const segment = newestOf(from, logs);
  if (segment === null) return null;
  try {
    const { file, header } = segment;
    const { state, first } = header;
    const whole = file.read(0, file.size());
    const walk = walkFrames(segment, { next: first, end: headerBytes, hash: header.hash }, from.home.kind, whole);
    const earlier = unsettledBefore(from, logs, header);
    const tail: JournalTail = {
      ...walk.tail,
      first,
      identity: file.identity,
      settled: Math.min(state.settled, walk.tail.next - 1),
      isSure: (state.settled >= first || walk.frames.some(({ isApplied }) => isApplied)) && !state.isRelaxed,
    };
    const frames = [...earlier, ...walk.frames];
    return {
      segment,
      state,
      tail,
      mark: header.mark,
      frames,
      added: [],
      isDistrusted: state.isDistrusted,
      isContinued: false,
      lastPassing: walk.lastPassing,
    };
  } catch (error) {
    segment.file[Symbol.dispose]();
    throw error;
  }
}

/** Of a journal of which only packed segments can be read: the last one is missing, and with it its versions. */
export function readPacked({ folder, home }: JournalSource): ReadJournal | null {
  const segments = new Segments({ folder, owner: home.owner, next: Infinity, last: Infinity });
  const last = segments.all.findLast(({ kind }) => kind === "packed");
  if (last === undefined) return null;
  let [next, lastHash] = [last.first, noHash];
  for (const { seq, hash } of segments.framesIn(last).frames) [next, lastHash] = [seq + 1, hash];
  return withoutSegment({ next, lastHash }, "lost");
}

/** Of a journal whose next frame begins its segment. All frames before are settled. */
export function withoutSegment(
  { next, lastHash }: Pick<JournalTail, "next" | "lastHash">,
  mark: HistoryMark,
): ReadJournal {
  const settled = next - 1;
  const state = { settled, isRelaxed: false, isDistrusted: false };
  const tail = emptyTail({ next, first: 0, identity: "", hash: noHash, lastHash, settled });
  return {
    segment: null,
    state,
    tail,
    mark,
    frames: [],
    added: [],
    isDistrusted: false,
    isContinued: false,
    lastPassing: 0,
  };
}

/** Of a segment that has no frames yet. */
export const emptyTail = (segment: Omit<JournalTail, "end" | "last" | "isSure">): JournalTail => ({
  ...segment,
  end: headerBytes,
  last: 0,
  isSure: false,
});

/** One without a beginning is none: it was never acknowledged, or somebody has removed what was in it. */
function newestOf(from: JournalSource, logs: readonly number[]): OpenSegment | null {
  for (const first of logs.toReversed()) {
    const segment = openSegment(from, first);
    if (segment !== null) return segment;
  }
  return null;
}

/** `null` if it is not there, or has no beginning yet. */
function openSegment({ folder, home, use }: JournalSource, first: number): OpenSegment | null {
  const file = folder.openFile(logName(first), logName(first), use);
  if (file === null) return null;
  try {
    if (file.size() > journalLimits.fileBytesMax) throw new JournalDamaged("its journal is too large", first);
    const header = decodeHeader(file.read(0, headerBytes), home.owner, first);
    if (header !== null) return { file, header };
  } catch (error) {
    file[Symbol.dispose]();
    throw error;
  }
  file[Symbol.dispose]();
  return null;
}

/** The frames that are not settled of the segments before the last one. */
function unsettledBefore(from: JournalSource, logs: readonly number[], { first, state }: ReadHeader): StoredFrame[] {
  const frames: StoredFrame[] = [];
  let before = first;
  for (const each of logs.filter((log) => log < first).toReversed()) {
    if (before <= state.settled + 1) break;
    const segment = openSegment({ ...from, use: "read" }, each);
    if (segment === null) continue;
    using file = segment.file;
    const { header } = segment;
    const start = { next: each, end: headerBytes, hash: header.hash };
    const settled = { ...header, state: { ...header.state, settled: state.settled } };
    const walk = walkFrames({ file, header: settled }, start, from.home.kind, file.read(0, file.size()));
    frames.unshift(...walk.frames.filter(({ seq }) => seq < before));
    before = each;
  }
  return frames;
}

interface Walk {
  /** Those that are not settled. */
  readonly frames: readonly StoredFrame[];
  readonly added: readonly AddedFrame[];
  readonly lastPassing: number;
  readonly tail: FramePlace & Pick<JournalTail, "last" | "lastHash">;
}

/** Follows the frames from a place on. `whole`: the file's bytes, if they are there already. */
function walkFrames(
  { file, header }: OpenSegment,
  start: FramePlace & Partial<JournalTail>,
  kind: HomeKind,
  whole?: Buffer,
): Walk {
  const read: ReadPart = whole
    ? (at, length) => whole.subarray(at, at + length)
    : (at, length) => file.read(at, length);
  const isCopied = header.inode !== inodeIn(file.identity);
  const frames: StoredFrame[] = [];
  const added: AddedFrame[] = [];
  let place: FramePlace = start;
  let lastPassing = 0;
  let [last, lastHash] = [start.last ?? 0, start.lastHash ?? header.prev];
  for (;;) {
    const found = readFrame(read, place);
    if (found === null) break;
    if (found.seq > header.state.settled) {
      const contents = read(found.contentsAt, found.end - found.contentsAt);
      const stored = storedFrame(found, contents, kind);
      if (stored === null) break;
      frames.push(isCopied ? Object.assign(stored, { appliedUs: null, stagedUs: undefined }) : stored);
    }
    if (isPassing(found)) lastPassing = found.seq;
    added.push({ versions: found.versions, isVoiding: isVoiding(found.facts) });
    place = { next: found.seq + 1, end: found.end, hash: found.hash };
    [last, lastHash] = [found.at, found.hash];
  }
  return { frames, added, lastPassing, tail: { ...place, last, lastHash } };
}

/** `null` if the frame does not count: its facts are none, or a content is not there. */
function storedFrame(found: FoundFrame, bytes: Buffer, kind: HomeKind): StoredFrame | null {
  const facts = decodeFacts(found.facts, kind);
  if (facts === null || bytes.length < found.end - found.contentsAt) return null;
  const contents = new Map<string, Buffer>();
  for (const { line } of contentLines(bytes)) {
    const decoded = line === null ? null : decodeContent(line);
    if (decoded === null) return null;
    contents.set(decoded.sha256, decoded.content);
  }
  const files: RecordedFile[] = [];
  for (const file of facts.files) {
    const after = file.after === null ? null : contents.get(file.after);
    if (after === undefined) return null;
    files.push(Object.assign({}, file, { after }));
  }
  const { seq, versions, isApplied, appliedUs } = found;
  const { boot, stagedUs, kept, voids } = facts;
  return { seq, boot, stagedUs, kept, voids, files, versions, isApplied, appliedUs };
}

/** Whether the journal needs recovery. */
export function needsRecovery({ frames, isDistrusted }: Unsettled, boot: string | null): boolean {
  return isDistrusted || isOfOtherBoot(frames, boot) || frames.at(-1)?.isApplied === false;
}

/** Whether any frame is from before the machine's last start. A frame without a boot id counts as such. */
export const isOfOtherBoot = (frames: readonly StoredFrame[], boot: string | null): boolean =>
  frames.some((frame) => frame.boot === null || frame.boot !== boot);
