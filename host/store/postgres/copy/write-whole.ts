import { ToolError } from "../../../values/tool-error.ts";
import type { UserId } from "../../../values/user-id.ts";
import { inParts } from "../../copying.ts";
import type { HomeContent, WrittenHome } from "../../copying.ts";
import { placeKey } from "../../versions/present-origins.ts";
import { headAfter, parseLine } from "../../versions/version-line.ts";
import { noVersion } from "../../versions/version.ts";
import type { VersionHead } from "../../versions/version.ts";
import type { HomePlace } from "../home-place.ts";
import { setGrants } from "../statements.ts";
import type { Transaction } from "../transaction.ts";
import { addContents, addFiles, addFirstChange, addHome, addRecords, addVersions } from "./copy-statements.ts";

/** What one statement brings. */
const bounds = { itemsMax: 1_000, bytesMax: 8 * 1024 * 1024 };
/** About what a file's row has. */
const rowBytes = 512;

/** Writes a whole home in a transaction that holds it, and commits. Returns `false` if there is one. */
export async function writeWhole(
  transaction: Transaction,
  place: HomePlace,
  { userId, content }: { readonly userId: UserId | null; readonly content: WrittenHome },
): Promise<boolean> {
  const { files, lines, kept, records, grants, origins, agedMs, unknown } = content;
  const [added = []] = await transaction.ask(
    addHome(place, {
      userId,
      scopes: [...new Set([...content.scopes, ...files.map(({ scope }) => scope)])],
      commits: Math.max(1, lines.length),
      changedUs: Math.max(0, ...files.map(({ changedUs }) => changedUs)),
      head: headOf(lines),
      keptBytes: kept.reduce((sum, { bytes }) => sum + bytes, 0),
      agedMs,
      unknown,
    }),
  );
  if (added.length === 0) return false;
  await writeContents(transaction, place, content);
  const rows = files.map((file) => ({ file, origin: origins.get(placeKey(file)) ?? null, bytes: rowBytes }));
  for (const part of inParts(rows, bounds)) await transaction.ask(addFiles(place, part));
  await writeLines(transaction, place, lines);
  if (records.length > 0) await transaction.ask(addRecords(place.tenant, records));
  const granted = { content: "", granted: grants, nowMs: 0 };
  await transaction.commit(...(grants.length > 0 ? [setGrants(place.tenant, granted)] : []));
  return true;
}

async function writeLines(transaction: Transaction, place: HomePlace, all: readonly string[]): Promise<void> {
  if (all.length === 0) await transaction.ask(addFirstChange(place));
  let first = 1;
  for (const part of inParts(
    all.map((line) => ({ line, bytes: line.length })),
    bounds,
  )) {
    const lines = part.map(({ line }) => line);
    await transaction.ask(addVersions(place, lines, first));
    first += lines.length;
  }
}

async function writeContents(transaction: Transaction, place: HomePlace, content: HomeContent): Promise<void> {
  const { files, kept } = content;
  const keptHashes = new Set(kept.map(({ sha256 }) => sha256));
  const all = new Map([...kept, ...files].map(({ sha256, bytes }) => [sha256, { sha256, bytes }]));
  const broughtBy = lastVersions(content.lines);
  for (const part of inParts(all.values(), bounds)) {
    const found = await content.contentsOf(part.map(({ sha256 }) => sha256));
    const rows = part.map(({ sha256 }) => {
      const bytes = found.get(sha256);
      if (bytes === undefined) throw new ToolError("STORAGE_FAILED", "Cannot copy: a content is missing");
      return { sha256, content: bytes, commitNo: broughtBy.get(sha256) ?? 0, isKept: keptHashes.has(sha256) };
    });
    await transaction.ask(addContents(place, rows));
  }
}

/** By content, the place of the last version that has it: the oldest go first when there are too many. */
function lastVersions(lines: readonly string[]): Map<string, number> {
  const last = new Map<string, number>();
  for (const [at, line] of lines.entries()) {
    for (const { sha256 } of parseLine(line)?.files ?? []) if (sha256 !== null) last.set(sha256, at + 1);
  }
  return last;
}

function headOf(lines: readonly string[]): VersionHead {
  const line = lines.at(-1);
  const version = line === undefined ? null : parseLine(line);
  return version === null || line === undefined ? noVersion : headAfter(version, line);
}
