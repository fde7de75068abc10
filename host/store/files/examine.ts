/** Finds what is unfinished or out of place in a home, without knowing any file format. */
import { storeLimits } from "../../../shared/limits.ts";
import { isScopePath, scopeName, trashFolder } from "../../../shared/path.ts";
import type { Directory, DirectoryEntry } from "../../disk/directory.ts";
import { isOfReadOnlyDisk } from "../../disk/disk-failure.ts";
import { inTurns } from "../../values/turns.ts";
import type { Pieces } from "../../values/turns.ts";
import type { StoreFinding } from "../holding.ts";
import type { RecordKind } from "../home.ts";
import { recordKinds } from "../home.ts";
import { isStagedName } from "./commit/apply-files.ts";
import { isOfOtherBoot, WalDamaged } from "./commit/find-records.ts";
import type { WalTail } from "./commit/find-records.ts";
import { judgeFiles } from "./commit/judge-files.ts";
import type { Judging, Verdict } from "./commit/judge-files.ts";
import { damagedWalPrefix, walFile } from "./commit/wal-format.ts";
import { Wal } from "./commit/wal.ts";
import { eraseMark, isMarked } from "./erase-mark.ts";
import { historyFindings } from "./history/history-findings.ts";
import { damagedHistoryPrefix, historyFolder } from "./history/history-folder.ts";
import { HomeFolder } from "./home-folder.ts";
import { checkOwner } from "./home-owner.ts";
import { hasPlace, hostFolder } from "./home.ts";
import type { FileHome } from "./home.ts";
import { isInPlaceOfFile, isLinked, linkedIn, separation } from "./mend-files.ts";
import { ScopeFolders } from "./scope-folders.ts";
import { whyUnusable } from "./survey-files.ts";

const { pathCharsMax } = storeLimits;

type FileProblem =
  | "wal-damaged"
  | "history-damaged"
  | "temporary-file"
  | "owner-missing"
  | "erase-unfinished"
  | "not-a-plain-file"
  | "name-not-allowed"
  | "several-names"
  | "empty-folder";

export const examineHome = (home: FileHome, at: WalMoment): Promise<StoreFinding[]> => inTurns(findingsOf(home, at));

function* findingsOf(home: FileHome, at: WalMoment): Pieces<StoreFinding[]> {
  using folder = HomeFolder.open(home);
  if (folder === null) return [];
  const { mountedScope } = home;
  const inside = folder.home;
  const inScopes =
    mountedScope === null
      ? yield* findingsInScopes(home, inside)
      : yield* strangeFiles(inside, `${mountedScope}/`, hostFolder);
  const above = mountedScope === null ? "" : `${mountedScope}/`;
  const ofOwn = yield* orFindings(hostFolder, () => ownFindings(home, folder, at));
  const placed = ofOwn.map((finding) => Object.assign(finding, { path: above + finding.path }));
  return [...inScopes, ...placed];
}

function* findingsInScopes({ kind: ofHome }: FileHome, home: Directory): Pieces<StoreFinding[]> {
  const scopes = home.entries().filter(({ name }) => scopeName.test(name) && hasPlace(ofHome, name, ""));
  const found: StoreFinding[][] = [];
  for (const { name, kind } of scopes) {
    if (kind !== "folder") found.push([unsafe(name, "it is not a folder")]);
    else found.push(yield* orFindings(name, () => findingsInScope(home, name)));
  }
  return found.flat();
}

function* findingsInScope(home: Directory, name: string): Pieces<StoreFinding[]> {
  using scope = home.openFolder(name);
  return scope === null ? [] : yield* strangeFiles(scope, `${name}/`);
}

/** `scope`: its name and a slash. `hidden` is a name to skip: in a mounted folder the host's own. */
function* strangeFiles(top: Directory, scope: string, hidden: string | null = null): Pieces<StoreFinding[]> {
  // A mounted folder is left as it is.
  const isMendable = hidden === null;
  const found: StoreFinding[] = [];
  function* visit(folder: Directory, above: string): Pieces<StoreFinding[]> {
    for (const entry of folder.entries()) {
      yield;
      found.push(...(yield* orFindings(scope + above + entry.name, () => look(folder, entry, above + entry.name))));
    }
    return [];
  }
  function* look(folder: Directory, { name, kind }: DirectoryEntry, path: string): Pieces<StoreFinding[]> {
    if (path === hidden) return [];
    if (path === trashFolder && kind !== "folder") return [unsafe(scope + path, noTrash)];
    if (kind === "other") return [unsafe(scope + path, "it is neither a file nor a folder")];
    // A name that begins with a dot belongs to another program, such as `.git`.
    if (!isScopePath(path)) return name.startsWith(".") ? [] : [unnamed(scope + path)];
    if (kind === "file" && isMendable && isLinked(folder, name)) return [linked(scope + path)];
    using _file = kind === "file" ? folder.openFile(name, path, "read") : null;
    if (kind === "file") folder.sizeOf(name, path);
    using below = kind === "folder" ? folder.openFolder(name) : null;
    if (below === null) return [];
    return isInPlaceOfFile(below, path) ? [emptyFolder(scope + path, isMendable)] : yield* visit(below, `${path}/`);
  }
  yield* visit(top, "");
  return found;
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

function orFinding(path: string, look: () => StoreFinding[]): StoreFinding[] {
  try {
    return look();
  } catch (error) {
    return [unsafe(path, whyUnusable(error))];
  }
}

const linked = (path: string): StoreFinding => ({
  code: "several-names",
  path,
  message: "it has several names on the disk (hard links), only 1 is allowed",
  remedy: separation,
});

const emptyFolder = (path: string, isMendable: boolean): StoreFinding => ({
  code: "empty-folder",
  path,
  message: "it is an empty folder in the place of a file",
  remedy: isMendable ? "remove it" : null,
});

const unsafe = (path: string, message: string): StoreFinding => inScope("not-a-plain-file", path, message);

/** A folder is named once, and not what is in it. */
const unnamed = (path: string): StoreFinding =>
  inScope(
    "name-not-allowed",
    path,
    `it has a path that no tool reads, allowed: names of A-Z, a-z, 0-9, "_", "-" and ".", ${pathCharsMax} characters in all${renaming(path)}`,
  );

/** Proposes the nearest name that is allowed, if the name is what is wrong. */
function renaming(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const [, stem = "", ending = ""] = /^(.*?)(\.[A-Za-z0-9]+)?$/s.exec(name) ?? [];
  const ascii = stem.normalize("NFKD").replaceAll(/\p{M}+/gu, "");
  const nearest = ascii.replaceAll(/[^A-Za-z0-9_-]+/g, "-").replaceAll(/^-+|-+$/g, "");
  return nearest === "" || nearest === stem ? "" : `; rename it, for example to "${nearest}${ending}"`;
}

const inScope = (code: FileProblem, path: string, message: string): StoreFinding => ({
  code,
  path: JSON.stringify(path).slice(1, -1),
  message,
  remedy: null,
});

function* ownFindings(home: FileHome, folder: HomeFolder, at: WalMoment): Pieces<StoreFinding[]> {
  const own = folder.openOwn();
  if (own === null) return [];
  const entries = own.entries();
  const files = entries.filter((each) => !each.name.startsWith(damagedHistoryPrefix) && !isOwnFolder(each));
  const strange = files.filter(({ kind }) => kind !== "file");
  if (strange.length > 0) return strange.map(({ name }) => unsafe(`${hostFolder}/${name}`, "it is not a file"));
  const names = files.map(({ name }) => name);
  const unopened = names.flatMap((name) => orFinding(`${hostFolder}/${name}`, () => tryToOpen(own, name)));
  if (unopened.length > 0) return unopened;
  const withLinks = home.kind === "mount" ? [] : linkedIn(own);
  // As long as they are, nothing else can be said.
  if (withLinks.length > 0) return withLinks.map((name) => linked(`${hostFolder}/${name}`));
  return [
    ...(isMarked(own) ? [ofOwn("erase-unfinished", eraseMark, markMeaning, markRemedy)] : []),
    ...(checkOwner(own, home) ? [] : [ofOwn("owner-missing", "owner", "no owner is recorded", "record it")]),
    ...names
      .filter(isStagedName)
      .map((name) => ofOwn("temporary-file", name, "a killed process has left it", "remove it")),
    ...names
      .filter((name) => name.startsWith(damagedWalPrefix))
      .map((name) => ofOwn("wal-damaged", name, "it could not be read as a WAL and was put aside", null)),
    ...entries
      .filter(({ name }) => name.startsWith(damagedHistoryPrefix))
      .map(({ name }) => ofOwn("history-damaged", name, "it could not be used as a history and was put aside", null)),
    ...recordKinds.flatMap((kind) => orFinding(`${hostFolder}/${kind}`, () => recordFindings(own, kind))),
    ...(yield* orFindings(`${hostFolder}/${historyFolder}`, () => historyFindings(own, home))),
    ...walFindings(home, { inside: folder.home, own }, at),
  ];
}

/** What is in the place of a record and is no file: calls take it for one that cannot be read. */
function recordFindings(own: Directory, kind: RecordKind): StoreFinding[] {
  using folder = own.openFolder(kind);
  const strange = folder?.entries().filter((each) => each.kind !== "file") ?? [];
  return strange.map(({ name }) => unsafe(`${hostFolder}/${kind}/${name}`, "it is not a file"));
}

/** The folders that the host makes in its own. */
const isOwnFolder = ({ name, kind }: DirectoryEntry): boolean =>
  kind === "folder" && [historyFolder, ...recordKinds].includes(name);

const markMeaning = "an erasure of the store's owner was interrupted";
const markRemedy = "finish it if it counts already, else take it back";

/** As calls open the lock and the WAL. On a disk that is read-only they need only to read. */
function tryToOpen(own: Directory, name: string): StoreFinding[] {
  try {
    using _file = own.openFile(name, name, "lock");
  } catch (error) {
    if (!isOfReadOnlyDisk(error)) throw error;
  }
  return [];
}

const ofOwn = (code: FileProblem, name: string, message: string, remedy: string | null): StoreFinding => ({
  code,
  path: `${hostFolder}/${name}`,
  message,
  remedy,
});

/** What is known from outside when a WAL is looked at. */
interface WalMoment {
  /** The machine's current boot id. */
  readonly boot: string | null;
  /** The WAL as this process has left it: this process retires it soon. */
  readonly known: WalTail | null;
}

/** A WAL that was written to so recently probably belongs to a running process, which retires it soon. */
const inUseMs = 10_000;

/** How many paths a finding names. */
const pathsMax = 10;

/** Lists a WAL that is not retired: what is in it, and what becomes of it. */
function walFindings(
  home: FileHome,
  { inside, own }: { readonly inside: Directory; readonly own: Directory },
  { boot, known }: WalMoment,
): StoreFinding[] {
  const path = `${hostFolder}/${walFile}`;
  const writtenUs = own.measure(walFile)?.writtenUs ?? 0;
  const found = { path, ageMs: Math.max(0, Math.round(Date.now() - writtenUs / 1_000)) };
  try {
    using wal = Wal.open(own, home, { known, isRead: true });
    if (wal === null || wal.isAsKnown || (wal.records.length === 0 && !wal.isDistrusted)) return [];
    using folders = new ScopeFolders(inside, { kind: home.kind, folds: new Map() });
    const message = `it has ${wal.records.length} records that are not retired, of ${pathsIn(wal.records.flatMap(({ files }) => files))}`;
    const isUnfinished = wal.isDistrusted || isOfOtherBoot(wal.records, boot) || unfinishedIn(wal);
    if (isUnfinished)
      return [{ ...found, code: "wal-unfinished", message, remedy: remedyFor({ own, folders, wal }, boot) }];
    const retiring = "flush these files and empty it";
    if (found.ageMs > inUseMs) return [{ ...found, code: "wal-left-over", message, remedy: retiring }];
    return [{ ...found, code: "wal-in-use", message, remedy: null }];
  } catch (error) {
    if (!(error instanceof WalDamaged)) throw error;
    const remedy = "put it aside and begin a new one";
    return [{ ...found, code: "wal-unfinished", message: "it cannot be read as a WAL", remedy }];
  }
}

const unfinishedIn = ({ records }: Wal): boolean => records.at(-1)?.isApplied === false;

/** What recovery would do; `null` if it cannot read a file. */
function remedyFor({ own, folders, wal }: Judging & { readonly wal: Wal }, boot: string | null): string | null {
  try {
    if (wal.isDistrusted || isOfOtherBoot(wal.records, boot)) return restoring(judgeFiles({ own, folders, wal }));
    for (const { scope, path } of wal.records.at(-1)?.files ?? []) folders.read(scope, path);
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
  return [...clauses, "flush the files and empty it"].join("; ");
}

function pathsIn(files: readonly { readonly scope: string; readonly path: string }[]): string {
  const paths = [...new Set(files.map(({ scope, path }) => `${scope}/${path}`))];
  const more = paths.length > pathsMax ? ` and ${paths.length - pathsMax} more` : "";
  return paths.slice(0, pathsMax).join(", ") + more;
}
