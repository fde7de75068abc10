/**
 * The sizes of a home's trashes between processes, beside the journal: to measure a trash is to look at each of its files.
 * They count only as long as the journal is as it was, so a crash or another process never leaves wrong ones.
 */
import { scopeName } from "../../../shared/path.ts";
import * as z from "../../../shared/zod.ts";
import type { Directory } from "../../disk/directory.ts";
import { createOverLeftover } from "../../disk/replace-file.ts";
import { parseJson } from "../reading.ts";
import type { KnownSizes } from "../reading.ts";
import type { JournalTail } from "./journal/read-journal.ts";

const name = "sizes";
const staged = "sizes-staged";
/** A smaller trash is measured as fast as its size is read. */
const filesMin = 500;
/** A user has some ten scopes, at 60 bytes each. */
const bytesMax = 16 * 1024;

const count = z.int().check(z.nonnegative());
const sizesSchema = z.strictObject({
  journal: z.string(),
  trash: z.record(z.string().check(z.regex(scopeName)), z.strictObject({ files: count, bytes: count })),
});

/** What is known of the sizes; nothing if anything about the file is unusual. */
export function readSizes(own: Directory, tail: JournalTail): KnownSizes {
  try {
    if ((own.sizeOf(name, name) ?? Infinity) > bytesMax) return {};
    const { data } = z.safeParse(sizesSchema, parseJson(own.read(name, name)?.toString() ?? ""));
    if (data?.journal !== keyOf(tail)) return {};
    return Object.fromEntries(Object.entries(data.trash).map(([scope, trash]) => [scope, { trash }]));
  } catch {
    return {};
  }
}

/** Not flushed, and no failure matters: the sizes are measured again. */
export function writeSizes(own: Directory, tail: JournalTail, sizes: KnownSizes): void {
  const large = Object.entries(sizes).filter(([, { trash }]) => trash !== undefined && trash.files >= filesMin);
  if (large.length === 0) return;
  const trash = Object.fromEntries(large.map(([scope, size]) => [scope, size.trash]));
  try {
    createOverLeftover(own, staged, {
      content: Buffer.from(JSON.stringify({ journal: keyOf(tail), trash })),
      shown: name,
    });
    own.rename(staged, own, name);
  } catch {
    // For example, the disk is full.
  }
}

const keyOf = ({ identity, next, lastHash }: JournalTail): string => [identity, next, lastHash].join(" ");
