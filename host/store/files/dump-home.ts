/** Reads a whole home that is held, for a copy in another place. */
import type { Directory } from "../../disk/directory.ts";
import { ToolError } from "../../values/tool-error.ts";
import { giveTurn, inTurns } from "../../values/turns.ts";
import type { Pieces } from "../../values/turns.ts";
import type { DumpedFile, DumpedRecord, HomeDump, KeptContent } from "../home-dump.ts";
import { grantsPath, grantsScope, recordKinds } from "../home.ts";
import { digestOf } from "../reading.ts";
import type { HeldHistory } from "../versions/present-origins.ts";
import { parseLine } from "../versions/version.ts";
import { Wal } from "./commit/wal.ts";
import { FileReader } from "./file-reader.ts";
import { contentsOfSegment } from "./history/content-line.ts";
import { HistoryFolder } from "./history/history-folder.ts";
import { readCreator } from "./home-owner.ts";
import type { FileHome } from "./home.ts";
import { readRecord, recordSizes } from "./record-files.ts";
import { HomeFolder } from "./scope-folders.ts";

/** `null` if there is no folder. Its log must be retired: then the history has everything. */
export async function dumpHome(home: FileHome, told: HeldHistory): Promise<HomeDump | null> {
  using folder = HomeFolder.open(home);
  if (folder === null) return null;
  using reader = new FileReader(home);
  const own = folder.openOwn();
  using wal = own && Wal.open(own, home, { isRead: true });
  if (wal?.isEmpty === false) throw new ToolError("STORAGE_FAILED", "Cannot copy: its last changes are not finished");
  using history = own && HistoryFolder.open(own);
  const { unknown, isBroken } = told.state();
  const { files, leftOut } = await inTurns(readFiles(reader, home));
  const { lines, kept } = await inTurns(readHistory(history));
  const byHash = new Map(files.map((file) => [file.sha256, file]));
  return {
    files,
    leftOut,
    scopes: home.kind === "store" ? [] : reader.scopes(),
    lines,
    origins: new Map(await told.origins()),
    unknown,
    isBroken,
    // Of no version, they are of no use.
    kept: lines.length === 0 ? [] : [...kept.values()],
    agedMs: history?.aged?.atMs ?? 0,
    records: home.kind === "user" ? readRecords(own) : [],
    creator: own && home.kind === "store" ? readCreator(own, home) : null,
    contentsOf: async (hashes) => {
      const ofFiles = await readContents(home, byHash, hashes);
      return new Map([...ofFiles, ...(await told.contentsOf(hashes.filter((each) => !byHash.has(each))))]);
    },
  };
}

/** Sorted, as scopes and surveys are. A store's entries come before its grants. */
function* readFiles(reader: FileReader, { kind }: FileHome): Pieces<Pick<HomeDump, "files" | "leftOut">> {
  const files: DumpedFile[] = [];
  const leftOut = reader.beside();
  for (const scope of reader.scopes()) {
    const { files: fit, unfit } = yield* reader.survey(scope);
    leftOut.push(...unfit.map(({ path, reason }) => ({ path: `${scope}/${path}`, reason })));
    for (const { path } of fit) {
      files.push(...readFile(reader, scope, path));
      yield;
    }
  }
  if (kind === "store") files.push(...readFile(reader, grantsScope, grantsPath));
  return { files, leftOut };
}

/** Nothing for a file that has gone meanwhile. */
function readFile(reader: FileReader, scope: string, path: string): DumpedFile[] {
  const times = reader.timesOf(scope, path);
  const content = reader.bytesOf(scope, path);
  if (times === null || content === null) return [];
  return [{ scope, path, sha256: digestOf(content) ?? "", bytes: content.length, ...times }];
}

/** `kept`: by hash. */
function* readHistory(
  history: HistoryFolder | null,
): Pieces<{ readonly lines: string[]; readonly kept: ReadonlyMap<string, KeptContent> }> {
  const lines: string[] = [];
  const kept = new Map<string, KeptContent>();
  for (const line of history?.versionLines() ?? []) {
    yield;
    // What is no version's line does not count, and breaks the chain.
    if (parseLine(line) !== null) lines.push(line);
  }
  for (const segment of history?.segments("contents") ?? []) {
    for (const each of contentsOfSegment(history?.lines("contents", segment) ?? [])) {
      yield;
      if (each) kept.set(each.sha256, { sha256: each.sha256, bytes: each.content.length });
    }
  }
  return { lines, kept };
}

const readRecords = (own: Directory | null): DumpedRecord[] =>
  recordKinds.flatMap((kind) =>
    Array.from(recordSizes(own, kind).keys()).flatMap((name) => {
      const text = readRecord(own, kind, name);
      return text === null ? [] : [{ kind, name, text }];
    }),
  );

/** The contents that files have. Throws `BUSY` for one that was edited since. */
async function readContents(
  home: FileHome,
  files: ReadonlyMap<string, DumpedFile>,
  hashes: readonly string[],
): Promise<Map<string, Uint8Array>> {
  using reader = new FileReader(home);
  const found = new Map<string, Uint8Array>();
  for (const sha256 of hashes) {
    const file = files.get(sha256);
    if (file === undefined) continue;
    await giveTurn();
    const content = reader.bytesOf(file.scope, file.path);
    if (content === null || digestOf(content) !== sha256)
      throw new ToolError("BUSY", "Cannot copy the files: somebody is editing them");
    found.set(sha256, content);
  }
  return found;
}
