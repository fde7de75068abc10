/** Reads a whole home that is held, for a copy in another place. */
import type { Directory } from "../../disk/directory.ts";
import { ToolError } from "../../values/tool-error.ts";
import { giveTurn, inTurns } from "../../values/turns.ts";
import type { Pieces } from "../../values/turns.ts";
import type { DumpedFile, DumpedRecord, HomeDump } from "../home-dump.ts";
import { grantsPath, grantsScope, recordKinds } from "../home.ts";
import { digestOf } from "../reading.ts";
import type { HeldHistory } from "../versions/present-origins.ts";
import { parseLine } from "../versions/version.ts";
import { FileReader } from "./file-reader.ts";
import { readCreator } from "./home-owner.ts";
import type { FileHome } from "./home.ts";
import { HistoryFiles, loadHistory, openHistory } from "./journal/history.ts";
import { readRecord, recordSizes } from "./record-files.ts";
import { HomeFolder } from "./scope-folders.ts";

/** `null` if there is no folder. */
export async function dumpHome(home: FileHome, told: HeldHistory): Promise<HomeDump | null> {
  using folder = HomeFolder.open(home);
  if (folder === null) return null;
  using reader = new FileReader(home);
  const own = folder.openOwn();
  const { unknown, isBroken } = told.state();
  const { files, leftOut } = await inTurns(readFiles(reader, home));
  const { lines, kept, agedMs } = await inTurns(readHistory(own, home));
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
    kept: lines.length === 0 ? [] : Array.from(kept, ([sha256, bytes]) => ({ sha256, bytes })),
    agedMs,
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

interface DumpedHistory extends Pick<HomeDump, "lines" | "agedMs"> {
  /** By hash, with the sizes. */
  readonly kept: ReadonlyMap<string, number>;
}

function* readHistory(own: Directory | null, home: FileHome): Pieces<DumpedHistory> {
  if (own === null) return { lines: [], kept: new Map(), agedMs: 0 };
  const read = openHistory(own, home);
  using _journal = read.journal;
  const from = { own, home, ...read };
  using files = new HistoryFiles(own, from);
  const lines: string[] = [];
  for (const line of files.versionLines()) {
    yield;
    // What is no version's line does not count, and breaks the chain.
    if (parseLine(line) !== null) lines.push(line);
  }
  const { aged } = yield* loadHistory(from);
  return { lines, kept: yield* files.contentSizes(), agedMs: aged?.atMs ?? 0 };
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
