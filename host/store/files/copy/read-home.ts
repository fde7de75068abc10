/** Reads a whole home. Whoever holds it has finished it and emptied its WAL. */
import type { Directory } from "../../../disk/directory.ts";
import { ownStoreOf } from "../../../values/store-id.ts";
import { ToolError } from "../../../values/tool-error.ts";
import { giveTurn, inTurns, sorted } from "../../../values/turns.ts";
import type { Pieces } from "../../../values/turns.ts";
import type { UserId } from "../../../values/user-id.ts";
import type { CopiedFile, CopiedRecord, HomeContent, KeptContent } from "../../copying.ts";
import type { UnfitFile } from "../../holding.ts";
import { grantsPath, grantsScope, recordKinds } from "../../home.ts";
import { digestOf } from "../../reading.ts";
import { parseLine } from "../../versions/version-line.ts";
import { Wal } from "../commit/wal.ts";
import { FileReader } from "../file-reader.ts";
import { contentsOfSegment } from "../history/content-line.ts";
import { HistoryFolder } from "../history/history-folder.ts";
import { loadHistory } from "../history/load-history.ts";
import { HomeFolder } from "../home-folder.ts";
import { checkOwner, readCreator } from "../home-owner.ts";
import type { FileHome } from "../home.ts";
import { readRecord, recordSizes } from "../record-files.ts";
import { ScopeFolders } from "../scope-folders.ts";

/** `null` if there is no folder. Throws `STORAGE_UNSAFE` if it belongs to another. */
export async function readHome(home: FileHome): Promise<HomeContent | null> {
  using folder = HomeFolder.open(home);
  if (folder === null) return null;
  const own = folder.openOwn();
  checkOwner(own, home);
  const { files, scopes, leftOut } = await inTurns(readFiles(home, folder.home));
  const kept = new KeptContents(own);
  const history = await readHistory(home, own);
  return {
    files,
    scopes,
    leftOut,
    ...history,
    // Of no version, they are of no use.
    kept: history.lines.length === 0 ? [] : kept.list,
    records: readRecords(home, own),
    creator: own && home.kind === "store" ? ownerIn(home, own) : null,
    contentsOf: (hashes) => readContents(home, { files, kept }, hashes),
  };
}

type ReadFiles = Pick<HomeContent, "files" | "scopes" | "leftOut">;

function* readFiles(home: FileHome, folder: Directory): Pieces<ReadFiles> {
  const files: CopiedFile[] = [];
  const leftOut: UnfitFile[] = [];
  using reader = new FileReader(home);
  using folders = new ScopeFolders(folder, { kind: home.kind, folds: new Map() });
  const scopes = reader.scopes();
  leftOut.push(...reader.beside());
  for (const scope of scopes) {
    const { files: fit, unfit } = yield* reader.surveying(scope);
    leftOut.push(...unfit.map(({ path, reason }) => ({ path: `${scope}/${path}`, reason })));
    for (const { path } of fit) {
      files.push(...readFile(folders, scope, path));
      yield;
    }
  }
  if (home.kind === "store") files.push(...readFile(folders, grantsScope, grantsPath));
  return { files: yield* sorted(files, byPlace), scopes: home.kind === "store" ? [] : scopes, leftOut };
}

/** Nothing for a file that has gone meanwhile. */
function readFile(folders: ScopeFolders, scope: string, path: string): CopiedFile[] {
  const found = folders.look(scope, path, ({ folder, name }) => {
    const measured = folder.measure(name);
    const content = folder.read(name, path);
    return measured && content && { measured, content };
  });
  if (found === null) return [];
  const { measured, content } = found;
  const { changedUs, writtenUs } = measured;
  return [{ scope, path, sha256: digestOf(content) ?? "", bytes: content.length, changedUs, writtenUs }];
}

const byPlace = (a: CopiedFile, b: CopiedFile): number =>
  a.scope === b.scope ? (a.path < b.path ? -1 : 1) : a.scope < b.scope ? -1 : 1;

async function readHistory(
  home: FileHome,
  own: Directory | null,
): Promise<Pick<HomeContent, "lines" | "origins" | "unknown" | "isBroken" | "agedMs">> {
  using history = own && HistoryFolder.open(own);
  using wal = own && Wal.open(own, home, { isRead: true });
  const { origins, unknown, isBroken } = await inTurns(loadHistory({ history, wal, queued: [] }));
  const lines: string[] = [];
  for (const first of history?.segments("versions") ?? []) {
    for (const line of history?.lines("versions", first) ?? []) {
      await giveTurn();
      if (isVersion(line)) lines.push(line);
    }
  }
  return {
    lines,
    origins: new Map(origins.entries()),
    unknown,
    isBroken,
    agedMs: history?.aged?.atMs ?? 0,
  };
}

/** What is no version's line does not count, and breaks the chain. */
const isVersion = (line: string): boolean => parseLine(line) !== null;

/** Nobody else's id: see `claimCreator`. */
function ownerIn({ names: [, store] }: FileHome, own: Directory): UserId | null {
  const creator = readCreator(own);
  return creator !== null && ownStoreOf(creator) === store ? creator : null;
}

function readRecords(home: FileHome, own: Directory | null): CopiedRecord[] {
  if (home.kind !== "user") return [];
  return recordKinds.flatMap((kind) =>
    Array.from(recordSizes(own, kind).keys()).flatMap((name) => {
      const text = readRecord(own, kind, name);
      return text === null ? [] : [{ kind, name, text }];
    }),
  );
}

async function readContents(
  home: FileHome,
  { files, kept }: Pick<HomeContent, "files"> & { readonly kept: KeptContents },
  hashes: readonly string[],
): Promise<Map<string, Uint8Array>> {
  using folder = HomeFolder.open(home);
  if (folder === null) throw edited();
  using folders = new ScopeFolders(folder.home, { kind: home.kind, folds: new Map() });
  const wanted = new Set(hashes);
  const found = new Map<string, Uint8Array>();
  for (const { scope, path, sha256 } of files) {
    if (!wanted.has(sha256) || found.has(sha256)) continue;
    await giveTurn();
    const content = folders.look(scope, path, (file) => file.folder.read(file.name, path));
    if (content === null || digestOf(content) !== sha256) throw edited();
    found.set(sha256, content);
  }
  const own = folder.openOwn();
  const left = hashes.filter((sha256) => !found.has(sha256));
  const ofHistory = own === null || left.length === 0 ? [] : kept.read(own, left);
  for (const [sha256, content] of ofHistory) found.set(sha256, content);
  return found;
}

const edited = (): ToolError => new ToolError("BUSY", "Cannot copy the files: somebody is editing them");

/** The contents that a history keeps, and where: the number of a segment, by hash. */
class KeptContents {
  readonly list: readonly KeptContent[];
  readonly #segments = new Map<string, number>();

  /** Reads all of them. No version may wait in the WAL. */
  constructor(own: Directory | null) {
    using history = own && HistoryFolder.open(own);
    const list: KeptContent[] = [];
    for (const first of history?.segments("contents") ?? []) {
      for (const { sha256, content } of contentsOfSegment(history?.lines("contents", first) ?? [])) {
        if (!this.#segments.has(sha256)) list.push({ sha256, bytes: content.length });
        this.#segments.set(sha256, first);
      }
    }
    this.list = list;
  }

  /** Those of the hashes that the history keeps. Reads each segment once. */
  read(own: Directory, hashes: Iterable<string>): Map<string, Buffer> {
    const found = new Map<string, Buffer>();
    const wanted = new Set(hashes);
    const segments = new Set(Array.from(wanted, (sha256) => this.#segments.get(sha256)));
    using history = HistoryFolder.open(own);
    for (const first of segments) {
      if (first === undefined || history === null) continue;
      for (const { sha256, content } of contentsOfSegment(history.lines("contents", first))) {
        if (wanted.has(sha256)) found.set(sha256, content);
      }
    }
    return found;
  }
}
