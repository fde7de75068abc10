import type { OriginClass } from "../../../../shared/origin.ts";
import { ownStoreOf } from "../../../values/store-id.ts";
import { inTurns } from "../../../values/turns.ts";
import type { UserId } from "../../../values/user-id.ts";
import type { CopiedFile, CopiedRecord, HomeContent } from "../../copying.ts";
import type { RecordKind } from "../../held-records.ts";
import { faultInHistory } from "../../versions/version-chain.ts";
import { parseLine } from "../../versions/version-line.ts";
import { lostTrust } from "../../versions/version.ts";
import type { HomePlace } from "../home-place.ts";
import { originsIn } from "../known-file.ts";
import { listVersions } from "../statements.ts";
import type { Row } from "../statements.ts";
import type { Transaction } from "../transaction.ts";
import { someContents, wholeFiles, wholeHistory, wholeHome, wholeRecords } from "./copy-statements.ts";

/** Reads a whole home, in a transaction that sees one moment; `null` if there is none. */
export async function readWhole(transaction: Transaction, place: HomePlace): Promise<HomeContent | null> {
  const [homes = [], files = [], lines = [], kept = [], records = []] = await transaction.ask(
    wholeHome(place),
    wholeFiles(place),
    listVersions(place),
    wholeHistory(place),
    wholeRecords(place.tenant),
  );
  const [home] = homes;
  const isUser = place.kind === "user";
  if (home === undefined && (!isUser || records.length === 0)) return null;
  const origins = new Map(originsIn(files));
  const all = lines.map(({ line }) => String(line));
  return {
    files: files.map(fileOf),
    scopes: isUser ? ((home?.["scopes"] ?? []) as unknown as string[]) : [],
    lines: all.filter((line) => parseLine(line) !== null),
    origins,
    ...(await trustOfUnknown(home, files, all)),
    kept: kept.map(({ sha256, bytes }) => ({ sha256: String(sha256), bytes: Number(bytes) })),
    agedMs: Number(home?.["aged_ms"] ?? 0),
    records: isUser ? records.map(recordOf) : [],
    creator: isUser ? null : creatorOf(place, home),
    leftOut: [],
    contentsOf: async (hashes) => {
      const [found = []] = await transaction.ask(someContents(place, hashes));
      return new Map(found.map(({ sha256, content }) => [String(sha256), content as unknown as Buffer]));
    },
  };
}

function fileOf(row: Row): CopiedFile {
  return {
    scope: String(row["scope"]),
    path: String(row["path"]),
    sha256: String(row["sha256"]),
    bytes: Number(row["bytes"]),
    changedUs: Number(row["changed_us"]),
    writtenUs: Number(row["written_us"]),
  };
}

const recordOf = (row: Row): CopiedRecord => ({
  kind: row["record_kind"] as RecordKind,
  name: String(row["name"]),
  text: String(row["body"]),
});

/**
 * A history that somebody has changed says nothing: no file keeps any trust. If the home came from elsewhere, as it was
 * there. Else: if every file is as a version says, whatever comes later by hand is an edit of the owner's.
 */
async function trustOfUnknown(
  home: Row | undefined,
  files: readonly Row[],
  lines: readonly string[],
): Promise<Pick<HomeContent, "unknown" | "isBroken">> {
  const unknown = (home?.["unknown"] ?? null) as OriginClass | null;
  const head = home && { seq: Number(home["seq"]), hash: String(home["hash"]) };
  const isChanged = head !== undefined && (await inTurns(faultInHistory(lines, head))) !== null;
  if (unknown === lostTrust || home?.["has_last"] === false || isChanged) return { unknown: lostTrust, isBroken: true };
  const areKnown = files
    .filter(({ path }) => path !== "grants.json")
    .every(({ sha256, origin_sha256: known }) => sha256 === known);
  return { unknown: unknown ?? (areKnown ? "owner_edit" : "unstated"), isBroken: false };
}

/** As a folder records it: nobody's id but the owner's, whatever the database says. */
function creatorOf({ tenant }: HomePlace, home: Row | undefined): UserId | null {
  const userId = (home?.["user_id"] ?? null) as UserId | null;
  return userId !== null && ownStoreOf(userId) === tenant ? userId : null;
}
