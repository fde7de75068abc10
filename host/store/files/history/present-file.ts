/**
 * Where the present files come from, up to some version: so that not all versions are read again, and so that old ones
 * can be dropped. What it says is never more than what the versions said.
 */
import { originClasses } from "../../../../shared/origin.ts";
import * as z from "../../../../shared/zod.ts";
import { replaceFile } from "../../../disk/replace-file.ts";
import { giveTurn } from "../../../values/turns.ts";
import type { Pieces } from "../../../values/turns.ts";
import { PresentOrigins } from "../../versions/present-origins.ts";
import type { FileOrigin } from "../../versions/present-origins.ts";
import { versionKinds } from "../../versions/version.ts";
import { readBounded } from "./history-folder.ts";
import type { HistoryFolder } from "./history-folder.ts";

const name = "present.json";
const staged = "present-staged";

const sha256 = z.string().check(z.regex(/^[0-9a-f]{64}$/));
const originClass = z.enum(originClasses);
const origin = z.strictObject({
  seq: z.int(),
  sha256,
  class: originClass,
  trust: originClass,
  atMs: z.int(),
  kind: z.optional(z.enum(versionKinds)),
});
const lowered = z.strictObject({ run: z.string(), trust: originClass, atMs: z.int() });
const schema = z.strictObject({
  head: z.strictObject({ seq: z.int(), hash: sha256 }),
  files: z.array(z.unknown()),
  runs: z.optional(z.array(lowered)),
});
const fileSchema = z.strictObject({ place: z.string(), origin });

/** `null` if there is none that can be read. */
export function* readPresent(history: HistoryFolder): Pieces<PresentOrigins | null> {
  try {
    using file = history.folder.openFile(name, name, "read");
    const parsed = file && z.safeParse(schema, JSON.parse(readBounded(file, "present").toString("utf8")));
    if (!parsed?.success) return null;
    const { head, files, runs } = parsed.data;
    const origins: [place: string, origin: FileOrigin][] = [];
    for (const each of files) {
      yield;
      const { data: known } = z.safeParse(fileSchema, each);
      if (known === undefined) return null;
      origins.push([known.place, known.origin]);
    }
    return new PresentOrigins(head, origins, runs);
  } catch {
    return null;
  }
}

/** Durable once the folder is flushed. */
export async function writePresent({ folder }: HistoryFolder, origins: PresentOrigins): Promise<void> {
  const files: string[] = [];
  for (const [place, of] of origins.entries()) {
    await giveTurn();
    files.push(JSON.stringify({ place, origin: of }));
  }
  const [head, runs] = [origins.head, origins.loweredRuns].map((part) => JSON.stringify(part));
  const content = Buffer.from(`{"head":${head},"files":[${files.join(",")}],"runs":${runs}}`);
  await replaceFile(folder, name, { content, shown: name, staged });
}
