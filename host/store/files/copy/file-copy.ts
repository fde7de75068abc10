import { readBootId } from "../../../disk/boot-id.ts";
import type { Directory } from "../../../disk/directory.ts";
import { DiskRoot } from "../../../disk/pinned-directory.ts";
import { ownStoreOf } from "../../../values/ids.ts";
import type { StoreId, UserId } from "../../../values/ids.ts";
import { ToolError } from "../../../values/tool-error.ts";
import { giveTurn, inTurns, sorted } from "../../../values/turns.ts";
import type { Pieces } from "../../../values/turns.ts";
import type {
  CopiedFile,
  CopiedRecord,
  CopySettings,
  HomeContent,
  HomeName,
  StoreCopy,
  WrittenHome,
} from "../../copying.ts";
import { isLive } from "../../grant-hints.ts";
import { grantsPath, grantsScope, recordKinds, storeHome, userHome } from "../../home.ts";
import type { StoreFinding, UnfitFile } from "../../reading.ts";
import { digestOf } from "../../reading.ts";
import { parseLine } from "../../versions/version.ts";
import { Wal } from "../commit/wal.ts";
import { leftOfErased } from "../erase-mark.ts";
import { FileReader } from "../file-reader.ts";
import { listStores, listStrays, listUsers } from "../found-homes.ts";
import { GrantedHints } from "../granted-hints.ts";
import { contentsOfSegment } from "../history/content-line.ts";
import { HistoryFolder } from "../history/history-folder.ts";
import { loadHistory } from "../history/known-history.ts";
import { checkOwner, readCreator } from "../home-owner.ts";
import { fileHome } from "../home.ts";
import type { FileHome } from "../home.ts";
import { Homes } from "../homes.ts";
import { readRecord, recordSizes } from "../record-files.ts";
import { HomeFolder, ScopeFolders } from "../scope-folders.ts";
import { removeStagedHomes, writeHome } from "./write-home.ts";

/** Throws `ENTRY_NOT_FOUND` if there is no folder to read. */
export async function openFileCopy(dir: string, settings: CopySettings, isSource: boolean): Promise<StoreCopy> {
  const root = new DiskRoot(dir);
  if (isSource) {
    using folder = root.open();
    if (folder === null) throw new ToolError("ENTRY_NOT_FOUND", "Cannot copy: there is no such data folder");
  } else await removeStagedHomes(root);
  return new FileCopy(root, settings);
}

/** To keep what the policy of a host keeps, nothing is aged or pruned here. */
const everything = { daysMax: Infinity, bytesMax: Infinity };

class FileCopy implements StoreCopy {
  readonly #root: DiskRoot;
  readonly #settings: CopySettings;
  readonly #homes: Homes;
  readonly #hints: GrantedHints;

  constructor(root: DiskRoot, settings: CopySettings) {
    this.#root = root;
    this.#settings = settings;
    const isFlushed = settings.durability === "full";
    const history = { history: everything, clock: Date.now };
    this.#homes = new Homes({ isFlushed, boot: readBootId(), settings: history, note: () => {} });
    this.#hints = new GrantedHints(root, isFlushed);
  }

  async homes(): Promise<HomeName[]> {
    return [
      ...listUsers(this.#root).map((id): HomeName => ({ kind: "user", id })),
      ...listStores(this.#root).map((id): HomeName => ({ kind: "store", id })),
    ];
  }

  async strays(): Promise<StoreFinding[]> {
    return listStrays(this.#root);
  }

  async hasErasures(): Promise<boolean> {
    return leftOfErased(this.#root).length > 0;
  }

  async hold<Result>(home: HomeName, work: (content: HomeContent | null) => Promise<Result>): Promise<Result> {
    const until = performance.now() + this.#settings.waitMs;
    const session = await this.#homes.open(this.#homeOf(home), { make: true, readOnlyWillDo: false, until });
    try {
      // Then the history has everything.
      await session?.retire(true);
      return await work(await readHome(this.#homeOf(home)));
    } finally {
      if (session !== null) this.#homes.releaseUnchanged(session);
    }
  }

  async write(home: HomeName, content: WrittenHome): Promise<boolean> {
    const { id } = home;
    return await writeHome(this.#homeOf(home), content, {
      isFlushed: this.#settings.durability === "full",
      // A hint without a grant does no harm, but a grant without a hint is not found.
      beforeNamed: async () => {
        const nowMs = Date.now();
        const granted = home.kind === "store" ? content.grants.filter((each) => isLive(each, nowMs)) : [];
        for (const each of granted) await this.#hints.add(id as StoreId, each, nowMs);
      },
    });
  }

  async leftStores(): Promise<Map<StoreId, StoreId[]>> {
    return this.#hints.leftOfAll();
  }

  async leaveStores(principal: StoreId, stores: readonly StoreId[]): Promise<void> {
    await this.#hints.leave(principal, stores);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#homes.close();
  }

  #homeOf(home: HomeName): FileHome {
    return fileHome(home.kind === "user" ? userHome(home.id) : storeHome(home.id), this.#root);
  }
}

/** `null` if there is no folder. Throws `STORAGE_UNSAFE` if it belongs to another. */
async function readHome(home: FileHome): Promise<HomeContent | null> {
  using folder = HomeFolder.open(home);
  if (folder === null) return null;
  const own = folder.openOwn();
  checkOwner(own, home);
  const { files, scopes, leftOut } = await inTurns(readFiles(home, folder.home));
  const kept = keptIn(own);
  const history = await readHistory(home, own);
  return {
    files,
    scopes,
    leftOut,
    ...history,
    // Of no version, they are of no use.
    kept: history.lines.length === 0 ? [] : Array.from(kept, ([sha256, { bytes }]) => ({ sha256, bytes })),
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
  using folders = new ScopeFolders(folder, home);
  const scopes = reader.scopes();
  leftOut.push(...reader.beside());
  for (const scope of scopes) {
    const { files: fit, unfit } = yield* reader.survey(scope);
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
    if (measured === null || content === null) return null;
    const { changedUs, writtenUs } = measured;
    return { scope, path, sha256: digestOf(content) ?? "", bytes: content.length, changedUs, writtenUs };
  });
  return found === null ? [] : [found];
}

const byPlace = (a: CopiedFile, b: CopiedFile): number =>
  a.scope === b.scope ? (a.path < b.path ? -1 : 1) : a.scope < b.scope ? -1 : 1;

async function readHistory(
  home: FileHome,
  own: Directory | null,
): Promise<Pick<HomeContent, "lines" | "origins" | "unknown" | "isBroken" | "agedMs">> {
  using history = own && HistoryFolder.open(own);
  using wal = own && Wal.open(own, home, { isRead: true });
  const { origins, unknown, isBroken } = await inTurns(loadHistory({ history, queued: [] }, wal));
  const lines: string[] = [];
  for (const first of history?.segments("versions") ?? []) {
    for (const line of history?.lines("versions", first) ?? []) {
      await giveTurn();
      // What is no version's line does not count, and breaks the chain.
      if (parseLine(line) !== null) lines.push(line);
    }
  }
  return { lines, origins: new Map(origins.entries()), unknown, isBroken, agedMs: history?.aged?.atMs ?? 0 };
}

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
  { files, kept }: Pick<HomeContent, "files"> & { readonly kept: ReturnType<typeof keptIn> },
  hashes: readonly string[],
): Promise<Map<string, Uint8Array>> {
  using folder = HomeFolder.open(home);
  if (folder === null) throw edited();
  using folders = new ScopeFolders(folder.home, home);
  const wanted = new Set(hashes);
  const found = new Map<string, Uint8Array>();
  for (const { scope, path, sha256 } of files) {
    if (!wanted.has(sha256) || found.has(sha256)) continue;
    await giveTurn();
    const content = folders.look(scope, path, (file) => file.folder.read(file.name, path));
    if (content === null || digestOf(content) !== sha256) throw edited();
    found.set(sha256, content);
  }
  // Each segment is read once.
  const segments = new Set(hashes.flatMap((sha256) => (found.has(sha256) ? [] : (kept.get(sha256)?.segment ?? []))));
  const own = segments.size > 0 ? folder.openOwn() : null;
  using history = own && HistoryFolder.open(own);
  for (const segment of segments) {
    for (const { sha256, content } of contentsOfSegment(history?.lines("contents", segment) ?? [])) {
      if (wanted.has(sha256)) found.set(sha256, content);
    }
  }
  return found;
}

const edited = (): ToolError => new ToolError("BUSY", "Cannot copy the files: somebody is editing them");

/** The contents that a history keeps, by hash, with the numbers of their segments. No version may wait in the WAL. */
function keptIn(own: Directory | null): Map<string, { readonly bytes: number; segment: number }> {
  using history = own && HistoryFolder.open(own);
  const kept = new Map<string, { readonly bytes: number; segment: number }>();
  for (const segment of history?.segments("contents") ?? []) {
    for (const { sha256, content } of contentsOfSegment(history?.lines("contents", segment) ?? [])) {
      kept.set(sha256, { bytes: content.length, segment });
    }
  }
  return kept;
}
