/** Reads a whole home that is held, for a copy in another place. */
import { lowestOf } from "../../../shared/origin.ts";
import type { OriginClass } from "../../../shared/origin.ts";
import { placeKey, placeOfKey } from "../../values/change-set.ts";
import type { Place } from "../../values/change-set.ts";
import { ToolError } from "../../values/tool-error.ts";
import { inTurns } from "../../values/turns.ts";
import type { HomeDump, HomePiece } from "../home-dump.ts";
import { grantsPath, grantsScope, recordKinds, recordPath } from "../home.ts";
import { digestOf } from "../reading.ts";
import { lowestByContent } from "../versions/present-origins.ts";
import type { FileOrigin } from "../versions/present-origins.ts";
import { FileReader } from "./file-reader.ts";
import { readCreator } from "./home-owner.ts";
import type { FileHome } from "./home.ts";
import { HistoryFiles, openHistory } from "./journal/history.ts";
import type { KnownHistory } from "./journal/history.ts";
import { readRecord, recordSizes } from "./record-files.ts";
import { HomeFolder } from "./scope-folders.ts";

/** `null` if there is no folder. */
export function dumpHome(home: FileHome, known: KnownHistory): HomeDump | null {
  using folder = HomeFolder.open(home);
  if (folder === null) return null;
  using reader = new FileReader(home);
  const own = folder.openOwn();
  return {
    scopes: home.kind === "store" ? [] : reader.scopes(),
    unknown: known.unknown,
    agedMs: known.aged?.atMs ?? 0,
    creator: own && home.kind === "store" ? readCreator(own, home) : null,
    pieces: readPieces(home, known),
  };
}

async function* readPieces(home: FileHome, known: KnownHistory): AsyncGenerator<HomePiece> {
  using folder = HomeFolder.open(home);
  const own = folder?.openOwn() ?? null;
  const read = own && openHistory(own, home);
  using _journal = read && read.journal;
  using files = own && read && new HistoryFiles(own, read);
  yield* readFiles(home, known, files);
  if (own === null || files === null) return;
  for (const each of files.kept()) {
    if (typeof each === "string") yield { kind: "version", line: each, bytes: each.length };
    else if (each) yield { kind: "kept", ...each, bytes: each.content.length };
  }
  for (const kind of home.kind === "user" ? recordKinds : []) {
    for (const name of recordSizes(own, kind).keys()) {
      const text = readRecord(own, kind, name);
      if (text === null) continue;
      // A database holds none, and no host writes one.
      if (text.includes("\0"))
        yield { kind: "left out", path: recordPath(kind, name), reason: "it is no text", bytes: 0 };
      else yield { kind: "record", of: kind, name, text, bytes: text.length };
    }
  }
}

async function* readFiles(
  home: FileHome,
  known: KnownHistory,
  history: HistoryFiles | null,
): AsyncGenerator<HomePiece> {
  using reader = new FileReader(home);
  const places: Place[] = home.kind === "store" ? [{ scope: grantsScope, path: grantsPath }] : [];
  for (const { path, reason } of reader.beside()) yield { kind: "left out", path, reason, bytes: 0 };
  for (const scope of reader.scopes()) {
    const { files, unfit } = await inTurns(reader.survey(scope));
    for (const { path, reason } of unfit) yield { kind: "left out", path: `${scope}/${path}`, reason, bytes: 0 };
    places.push(...files.map(({ path }) => ({ scope, path })));
  }
  const found = places.flatMap((place) => {
    const times = reader.timesOf(place.scope, place.path);
    return times === null ? [] : Object.assign(place, times);
  });
  const origins = new Map(known.origins.entries());
  const there = new Set(found.map(placeKey));
  const gone = [...origins].filter(([key]) => !there.has(key));
  const isMade = found.some((file) => !origins.has(placeKey(file)));
  const versions = history !== null && isMade && gone.length > 0 ? await inTurns(history.versions()) : [];
  const moved = movedBy(
    gone.map(([, origin]) => origin),
    lowestByContent([...origins.values(), ...versions.flatMap(({ files }) => files)]),
    known.unknown,
  );
  for (const file of found.toSorted((a, b) => a.changedUs - b.changedUs)) {
    const content = reader.bytesOf(file.scope, file.path);
    if (content === null || reader.timesOf(file.scope, file.path)?.changedUs !== file.changedUs)
      throw new ToolError("BUSY", "Cannot copy the files: somebody is editing them");
    const [sha256, bytes, own] = [digestOf(content) ?? "", content.length, origins.get(placeKey(file)) ?? null];
    const origin = own ?? moved.get(sha256) ?? null;
    const isMoved = own === null && origin !== null;
    yield { kind: "file", ...file, content: Buffer.from(content), sha256, bytes, origin, isMoved };
  }
  for (const [key, origin] of gone) yield { kind: "gone", ...placeOfKey(key), origin, bytes: 0 };
}

/** By the content. As the next version of the file would say, it is trusted as little as any that has ever had it. */
const movedBy = (
  gone: readonly FileOrigin[],
  lowest: ReadonlyMap<string, OriginClass>,
  unknown: OriginClass,
): Map<string, FileOrigin> =>
  new Map(
    gone.map((origin) => {
      const trust = lowestOf(unknown, lowest.get(origin.sha256) ?? origin.trust);
      return [origin.sha256, { ...origin, trust }];
    }),
  );
