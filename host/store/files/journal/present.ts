/**
 * Where the present files come from, up to some version: so that not all versions are read again, and so that old ones
 * can be dropped. What it says is never more than what the versions said.
 */
import * as z from "../../../../shared/zod.ts";
import type { Directory } from "../../../disk/directory.ts";
import { replaceFile } from "../../../disk/replace-file.ts";
import { readingSchema } from "../../../values/clock-reading.ts";
import type { ClockReading } from "../../../values/clock-reading.ts";
import { giveTurn } from "../../../values/turns.ts";
import type { Pieces } from "../../../values/turns.ts";
import { PresentOrigins, loweredSchema, originSchema } from "../../versions/present-origins.ts";
import type { FileOrigin } from "../../versions/present-origins.ts";
import { sha256Schema } from "../../versions/version.ts";

const name = "present.json";
/** A larger file is none of ours. */
const bytesMax = 64 * 1024 * 1024;

const presentSchema = z.strictObject({
  head: z.strictObject({ seq: z.int(), hash: sha256Schema }),
  /** The segment that has the versions after it; absent in format 3. */
  segment: z.optional(z.int()),
  /** When old contents were last looked for, and by which process. */
  aged: z.optional(readingSchema),
  files: z.array(z.unknown()),
  runs: z.optional(z.array(loweredSchema)),
});
const fileSchema = z.strictObject({ place: z.string(), origin: originSchema });

export interface PresentFile {
  readonly origins: PresentOrigins;
  readonly segment: number;
  readonly aged: ClockReading | null;
}

/** `null` if there is none that can be read. */
export function* readPresent(folder: Directory): Pieces<PresentFile | null> {
  try {
    using file = folder.openFile(name, name, "read");
    if (file === null || file.size() > bytesMax) return null;
    const parsed = z.safeParse(presentSchema, JSON.parse(file.read(0, file.size()).toString("utf8")));
    if (!parsed.success) return null;
    const { head, segment = 0, aged = null, files, runs } = parsed.data;
    const origins: [place: string, origin: FileOrigin][] = [];
    for (const each of files) {
      yield;
      const { data: known } = z.safeParse(fileSchema, each);
      if (known === undefined) return null;
      origins.push([known.place, known.origin]);
    }
    return { origins: new PresentOrigins(head, origins, runs), segment, aged };
  } catch {
    return null;
  }
}

/** Durable once the folder is flushed. */
export async function writePresent(folder: Directory, { origins, segment, aged }: PresentFile): Promise<void> {
  const files: string[] = [];
  for (const [place, of] of origins.entries()) {
    await giveTurn();
    files.push(JSON.stringify({ place, origin: of }));
  }
  const [head, runs] = [origins.head, origins.loweredRuns].map((part) => JSON.stringify(part));
  const looked = aged === null ? "" : `"aged":${JSON.stringify(aged)},`;
  const text = `{"head":${head},"segment":${segment},${looked}"files":[${files.join(",")}],"runs":${runs}}`;
  await replaceFile(folder, name, { content: Buffer.from(text), shown: name, staged: "staged-present" });
}
