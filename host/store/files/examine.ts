/** Finds what is unfinished or out of place in a home, without knowing any file format. */
import { decodedName } from "../../../shared/encoded-name.ts";
import { storeLimits } from "../../../shared/limits.ts";
import { isScopePath, scopeName, trashFolder } from "../../../shared/path.ts";
import type { Directory, DirectoryEntry } from "../../disk/directory.ts";
import { isOfReadOnlyDisk } from "../../disk/disk-failure.ts";
import { inTurns } from "../../values/turns.ts";
import type { Pieces } from "../../values/turns.ts";
import { recordKinds } from "../home.ts";
import type { RecordKind } from "../home.ts";
import type { StoreFinding } from "../reading.ts";
import { isStagedName } from "./commit/apply-files.ts";
import { judgeFiles } from "./commit/judge-files.ts";
import type { Judging, Verdict } from "./commit/judge-files.ts";
import { eraseMark, isMarked } from "./erase-mark.ts";
import { checkOwner } from "./home-owner.ts";
import { hasPlace, hostFolder } from "./home.ts";
import type { FileHome } from "./home.ts";
import { oldHistory } from "./journal/format-3-history.ts";
import { JournalDamaged } from "./journal/format.ts";
import { damagedPrefix, historyFindings, openHistory } from "./journal/history.ts";
import type { Journal } from "./journal/journal.ts";
import { isOfOtherBoot, isSameTail, needsRecovery } from "./journal/read-journal.ts";
import type { JournalTail, Unsettled } from "./journal/read-journal.ts";
import { journalFolder, logName } from "./journal/segments.ts";
import { isInPlaceOfFile, isLinked, linkedIn, separation } from "./mend-files.ts";
import { FreeNames } from "./mend-names.ts";
import { HomeFolder, ScopeFolders } from "./scope-folders.ts";
import { whyNoPath, whyUnusable } from "./survey-files.ts";

const { pathBytesMax, fileBytesMax } = storeLimits;

export const examineHome = (home: FileHome, at: KnownMoment): Promise<StoreFinding[]> => inTurns(findingsOf(home, at));

function* findingsOf(home: FileHome, at: KnownMoment): Pieces<StoreFinding[]> {
  using folder = HomeFolder.open(home);
  if (folder === null) return [];
  const ofOwn = yield* orFindings(hostFolder, () => ownFindings(home, folder, at));
  if (home.kind !== "mount") return [...(yield* findingsInScopes(home, folder.home)), ...ofOwn];
  const above = `${home.scope}/`;
  const placed = ofOwn.map((each) => Object.assign(each, { path: above + each.path }));
  return [...(yield* strangeFiles(folder.home, above, { hidden: hostFolder, isRenamed: false })), ...placed];
}

function* findingsInScopes({ kind: ofHome }: FileHome, home: Directory): Pieces<StoreFinding[]> {
  const entries = home.entries();
  // Where no tool has written, there is no lock, and nothing is renamed.
  const isRenamed = entries.some(({ name, kind }) => name === hostFolder && kind === "folder");
  function* inScope(name: string): Pieces<StoreFinding[]> {
    using scope = home.openFolder(name);
    return scope === null ? [] : yield* strangeFiles(scope, `${name}/`, { hidden: null, isRenamed });
  }
  const found: StoreFinding[][] = [];
  for (const { name, kind } of entries) {
    if (!scopeName.test(name) || !hasPlace(ofHome, name, "")) continue;
    found.push(kind === "folder" ? yield* orFindings(name, () => inScope(name)) : [unsafe(name, "it is not a folder")]);
  }
  return found.flat();
}

interface Examined {
  /** A name to skip: in a mounted folder the host's own. */
  readonly hidden: string | null;
  /** Whether mending renames what no path has. */
  readonly isRenamed: boolean;
}

/** `scope`: its name and a slash. */
function* strangeFiles(top: Directory, scope: string, { hidden, isRenamed }: Examined): Pieces<StoreFinding[]> {
  // A mounted folder is left as it is.
  const isMendable = hidden === null;
  function* visit(folder: Directory, above: string): Pieces<StoreFinding[]> {
    const found: StoreFinding[] = [];
    const entries = folder.entries();
    const free = new FreeNames(entries, above);
    for (const entry of entries) {
      yield;
      const path = above + entry.name;
      for (const each of yield* orFindings(scope + path, () => look(folder, entry, free))) found.push(each);
    }
    return found;
  }
  function* look(folder: Directory, { name, kind }: DirectoryEntry, free: FreeNames): Pieces<StoreFinding[]> {
    const path = free.above + name;
    if (path === hidden) return [];
    if (path === trashFolder && kind !== "folder") return [unsafe(scope + path, noTrash)];
    if (kind === "other") return [unsafe(scope + path, "it is neither a file nor a folder")];
    // A name that begins with a dot belongs to another program, such as `.git`.
    if (!isScopePath(path))
      return name.startsWith(".") ? [] : [unnamed(scope, path, free.nearestTo({ name, kind }), isRenamed)];
    if (kind === "file") return isReadable(folder, name, path) ? [] : [linked(scope + path)];
    using below = folder.openFolder(name);
    if (below === null) return [];
    return isInPlaceOfFile(below, path) ? [emptyFolder(scope + path, isMendable)] : yield* visit(below, `${path}/`);
  }
  /** `false` for a file that is made one of its own. Throws for any other that no tool can read. */
  function isReadable(folder: Directory, name: string, path: string): boolean {
    try {
      using file = folder.openFile(name, path, "read");
      if (file !== null && file.size() > fileBytesMax) folder.sizeOf(name, path);
      return true;
    } catch (error) {
      if (isMendable && isLinked(folder, name)) return false;
      throw error;
    }
  }
  return yield* visit(top, "");
}

const noTrash = "it is not a folder, so nothing can go to the trash";

/** Turns a failure at one place into a finding. */
function* orFindings(path: string, look: () => Pieces<StoreFinding[]>): Pieces<StoreFinding[]> {
  try {
    return yield* look();
  } catch (error) {
    return [unsafe(path, whyUnusable(error))];
  }
}

const finding = (code: string, path: string, message: string, remedy: string | null = null): StoreFinding => ({
  code,
  path,
  message,
  remedy,
});

const linked = (path: string): StoreFinding =>
  finding("several-names", path, "it has several names on the disk (hard links), only 1 is allowed", separation);

const emptyFolder = (path: string, isMendable: boolean): StoreFinding =>
  finding("empty-folder", path, "it is an empty folder in the place of a file", isMendable ? "remove it" : null);

/** Others can have given such a name. */
const shownPath = (path: string): string => JSON.stringify(path).slice(1, -1);

const unsafe = (path: string, message: string): StoreFinding => finding("not-a-plain-file", shownPath(path), message);

/** A folder is named once, and not what is in it. `nearest`: a name that it can have, which mending gives it if `isRenamed`. */
function unnamed(scope: string, path: string, nearest: string | null, isRenamed: boolean): StoreFinding {
  const message = `${whyNoPath(path)}, so no tool reads it${allowed}`;
  const named = nearest === null ? null : JSON.stringify(decodedName(nearest));
  const advice = named === null || isRenamed ? "" : `; rename it, for example to ${named}`;
  const remedy = named !== null && isRenamed ? `rename it to ${named}` : null;
  return finding("name-not-allowed", shownPath(scope + path), message + advice, remedy);
}

const allowed =
  "; allowed: names without controls, hidden characters, a slash, a backslash or a colon, that do not begin with a dot, " +
  `end in a space or mean a device, and paths of ${pathBytesMax} bytes`;

function* ownFindings(home: FileHome, folder: HomeFolder, at: KnownMoment): Pieces<StoreFinding[]> {
  const own = folder.openOwn();
  if (own === null) return [];
  const entries = own.entries();
  const files = entries.filter((each) => !each.name.startsWith(damagedPrefix) && !isOwnFolder(each));
  const strange = files.filter(({ kind }) => kind !== "file");
  if (strange.length > 0) return strange.map(({ name }) => unsafe(`${hostFolder}/${name}`, "it is not a file"));
  const names = files.map(({ name }) => name);
  const unopened: StoreFinding[] = [];
  for (const name of names) unopened.push(...(yield* orFindings(`${hostFolder}/${name}`, () => tryToOpen(own, name))));
  if (unopened.length > 0) return unopened;
  const withLinks = home.kind === "mount" ? [] : linkedIn(own);
  // As long as they are, nothing else can be said.
  if (withLinks.length > 0) return withLinks.map((name) => linked(`${hostFolder}/${name}`));
  const found: StoreFinding[] = [];
  const add = (code: string, name: string, message: string, remedy: string | null = null): number =>
    found.push(finding(code, `${hostFolder}/${name}`, message, remedy));
  if (isMarked(own)) add("erase-unfinished", eraseMark, markMeaning, markRemedy);
  if (!checkOwner(own, home)) add("owner-missing", "owner", "no owner is recorded", "record it");
  for (const { name } of entries) {
    if (isStagedName(name)) add("temporary-file", name, "a killed process has left it", "remove it");
    if (name.startsWith(damagedPrefix)) add("journal-damaged", name, damagedJournal);
  }
  for (const kind of recordKinds) {
    found.push(...(yield* orFindings(`${hostFolder}/${kind}`, () => recordFindings(own, kind))));
  }
  found.push(...(yield* orFindings(`${hostFolder}/${journalFolder}`, () => historyFindings(own, home))));
  found.push(
    ...(yield* orFindings(`${hostFolder}/${journalFolder}`, () =>
      journalFindings(home, { inside: folder.home, own }, at),
    )),
  );
  return found;
}

/** What is in the place of a record and is no file: calls take it for one that cannot be read. */
function* recordFindings(own: Directory, kind: RecordKind): Pieces<StoreFinding[]> {
  yield;
  using folder = own.openFolder(kind);
  const strange = folder?.entries().filter((each) => each.kind !== "file") ?? [];
  return strange.map(({ name }) => unsafe(`${hostFolder}/${kind}/${name}`, "it is not a file"));
}

/** The folders that the host makes in its own. */
const isOwnFolder = ({ name, kind }: DirectoryEntry): boolean =>
  kind === "folder" && [journalFolder, oldHistory, ...recordKinds].includes(name);

const damagedJournal = "it could not be read as a journal and was put aside";
const markMeaning = "an erasure of the store's owner was interrupted";
const markRemedy = "finish it if it counts already, else take it back";

/** As calls open the lock. On a disk that is read-only they need only to read. */
function* tryToOpen(own: Directory, name: string): Pieces<StoreFinding[]> {
  yield;
  try {
    using _file = own.openFile(name, name, "lock");
  } catch (error) {
    if (!isOfReadOnlyDisk(error)) throw error;
  }
  return [];
}

/** What is known from outside when a journal is looked at. */
interface KnownMoment {
  /** The machine's current boot id. */
  readonly boot: string | null;
  /** The journal as this process has left it: this process settles it soon. */
  readonly known: JournalTail | null;
}

/** A journal that was written to so recently probably belongs to a running process, which settles it soon. */
const inUseMs = 10_000;

/** How many paths a finding names. */
const pathsMax = 10;

/** Lists the frames that are not settled: what they name, and what becomes of it. */
function* journalFindings(
  home: FileHome,
  { inside, own }: { readonly inside: Directory; readonly own: Directory },
  { boot, known }: KnownMoment,
): Pieces<StoreFinding[]> {
  yield;
  const path = `${hostFolder}/${journalFolder}`;
  try {
    const { journal, log } = openHistory(own, home);
    using _journal = journal;
    const unsettled = journal ?? log;
    const isKnown = journal !== null && known !== null && isSameTail(journal.tail, known);
    if (unsettled === null || isKnown || (unsettled.frames.length === 0 && !unsettled.isDistrusted)) return [];
    const found = { path, ageMs: Math.max(0, Math.round(Date.now() - writtenUs(own, journal) / 1_000)) };
    using folders = new ScopeFolders(inside, home);
    const { frames } = unsettled;
    const message = `it has ${frames.length} changes that are not settled, of ${pathsIn(frames.flatMap(({ files }) => files))}`;
    if (needsRecovery(unsettled, boot)) {
      return [
        {
          ...found,
          code: "journal-unfinished",
          message,
          remedy: remedyFor({ own, folders, frames }, unsettled, boot),
        },
      ];
    }
    if (found.ageMs > inUseMs) return [{ ...found, code: "journal-left-over", message, remedy: "flush these files" }];
    return [{ ...found, code: "journal-in-use", message, remedy: null }];
  } catch (error) {
    if (!(error instanceof JournalDamaged)) throw error;
    const remedy = "put it aside and begin a new one";
    return [{ path, code: "journal-unfinished", message: "it cannot be read as a journal", remedy }];
  }
}

/** When the last segment was written, or the log of an earlier format. */
const writtenUs = (own: Directory, journal: Journal | null): number =>
  (journal === null ? own.measure(journalFolder) : journal.folder.measure(logName(journal.tail.first)))?.writtenUs ?? 0;

/** What recovery would do; `null` if it cannot read a file. */
function remedyFor({ own, folders, frames }: Judging, { isDistrusted }: Unsettled, boot: string | null): string | null {
  try {
    if (isDistrusted || isOfOtherBoot(frames, boot)) return restoring(judgeFiles({ own, folders, frames }));
    for (const { scope, path } of frames.at(-1)?.files ?? []) folders.read(scope, path);
  } catch {
    return null;
  }
  return "finish the last change, and flush these files";
}

/** By verdict, in words. `done` needs none. */
const doing: Readonly<Record<Exclude<Verdict, "done">, string>> = {
  "put back": "put back the recorded version of",
  removed: "remove, as recorded,",
  kept: "keep, as someone has changed it since,",
};

function restoring(
  files: readonly { readonly verdict: Verdict; readonly scope: string; readonly path: string }[],
): string {
  const clauses = Object.entries(doing).flatMap(([verdict, words]) => {
    const some = files.filter((file) => file.verdict === verdict);
    return some.length === 0 ? [] : [`${words} ${pathsIn(some)}`];
  });
  return [...clauses, "flush the files"].join("; ");
}

function pathsIn(files: readonly { readonly scope: string; readonly path: string }[]): string {
  const paths = [...new Set(files.map(({ scope, path }) => `${scope}/${path}`))];
  const more = paths.length > pathsMax ? ` and ${paths.length - pathsMax} more` : "";
  return paths.slice(0, pathsMax).join(", ") + more;
}
