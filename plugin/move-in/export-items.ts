/** A JSON export of mem0: a list of memories, or an object with one, from the platform, the open version or its vector store. */
import { quoted } from "../../shared/text.ts";
import { formatFields } from "../kit/front-matter.ts";
import { ownKeys } from "../user-memory/entry-file.ts";
import { entryLimits } from "../user-memory/entry-limits.ts";
import { textsIn, timeFrom, typeFrom } from "./entry-facts.ts";
import { fitsBesideFields } from "./intake.ts";
import { JsonScan, scanStart } from "./json-scan.ts";
import type { FilePiece, OpenFile, Reading } from "./reading.ts";

const listKeys = ["results", "memories", "data", "items"];
const textKeys = ["memory", "text", "data", "content"];

/** Whether a JSON text has memories, as far as its beginning tells. */
export const seemsExport = (text: string): boolean => {
  const start = text.slice(0, seenCharsMax);
  return /^[\s\ufeff]*[[{]/.test(start) && /"(?:memory|memories|results)"\s*:/.test(start);
};

const seenCharsMax = 4_096;

export function readExport(reading: Reading, { path, text, more }: FilePiece, open: OpenFile): number {
  const { intake } = reading;
  const scan = new JsonScan(text, more, { listKeys, place: open.scan ?? scanStart });
  while (!intake.isFull) {
    const before = [scan.at, scan.place] as const;
    const next = scan.next();
    if (next.found === "item" && next.json.length > entryLimits.bodyBytesMax && !intake.isFresh) {
      open.scan = before[1];
      return before[0];
    }
    if (next.found === "cut" || next.found === "end") break;
    if (next.found === "wrong") intake.leave(path, next.reason);
    if (next.found === "other" && !next.isPlain) intake.leave(path, `its ${quoted(next.key)} is no list of memories`);
    if (next.found === "large" || next.found === "item") open.counted++;
    if (next.found === "large") intake.leave(path, `its memory ${open.counted} is too large`);
    if (next.found === "item") takeItem(reading, next.json, { path, number: open.counted });
  }
  open.scan = scan.place;
  if (scan.place.stage === "end" && !more && open.counted === 0) intake.leave(path, "it has no memory in it");
  return scan.at;
}

function takeItem(
  reading: Reading,
  json: string,
  { path, number }: { readonly path: string; readonly number: number },
): void {
  const { intake } = reading;
  const item = `its memory ${number}`;
  const fields = fieldsOf(json);
  if (fields === null) return intake.leave(path, `${item} is neither an object nor a text`);
  const found = textKeys.find((key) => typeof fields[key] === "string" && fields[key].trim() !== "");
  if (found === undefined) return intake.leave(path, `${item} has no text: none of ${textKeys.join(", ")}`);
  const owner = fields["user_id"];
  if (typeof owner === "string" && owner !== "") {
    reading.owner ??= owner;
    if (owner !== reading.owner)
      return intake.leave(
        path,
        `${item} is of the user ${quoted(owner)}, and the first is of ${quoted(reading.owner)}`,
      );
  }
  const [created, updated] = [timeFrom(fields["created_at"]), timeFrom(fields["updated_at"])];
  const kinds = [fields["categories"], fields["category"], fields["metadata"], fields["type"]].flatMap(textsIn);
  const type = typeFrom(kinds, "user");
  const said = Object.entries({ created_at: created, updated_at: updated, type: fields["type"] === type })
    .filter(([, isSaid]) => isSaid)
    .map(([key]) => key);
  const { lines, tooLarge } = otherLines(fields, [found, ...said]);
  if (tooLarge.length > 0)
    intake.leave(
      path,
      `${item} has more than front matter can have: without its ${tooLarge.map((key) => quoted(key)).join(", ")}`,
    );
  intake.add(path, {
    titles: textsIn([fields["title"], fields["name"]]),
    description: null,
    type,
    created,
    updated: updated ?? created,
    others: lines,
    body: String(fields[found]),
  });
}

type Fields = Readonly<Record<string, unknown>>;

/** Those of an item, and of what a vector store keeps with it. */
function fieldsOf(json: string): Fields | null {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return null;
  }
  if (typeof value === "string") return { memory: value };
  if (!isFields(value)) return null;
  const { payload, ...others } = value;
  return isFields(payload) ? { ...others, ...payload } : value;
}

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** What it says beside its text, as front matter, and the names of fields that are too large for it. */
function otherLines(
  fields: Fields,
  without: readonly string[],
): { readonly lines: string; readonly tooLarge: string[] } {
  let lines = "";
  const tooLarge: string[] = [];
  for (const [key, value] of Object.entries(fields)) {
    if (without.includes(key) || isEmpty(value)) continue;
    const added = fieldLines(ownKeys.includes(key) ? `source_${key}` : key, value);
    if (added !== null && fitsBesideFields(lines + added)) lines += added;
    else tooLarge.push(key);
  }
  return { lines, tooLarge };
}

/** `null` if it is nested too deep. */
function fieldLines(key: string, value: unknown): string | null {
  try {
    return formatFields([[key, value]]);
  } catch {
    return null;
  }
}

const isEmpty = (value: unknown): boolean =>
  value === null || value === "" || (typeof value === "object" && Object.keys(value).length === 0);
