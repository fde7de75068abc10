/** A version as a line of JSON. Each line has the hash of the line before, so that no line can be changed unnoticed. */
import { hash } from "node:crypto";

import { originClasses } from "../../../shared/origin.ts";
import { isScopePath, scopeName } from "../../../shared/path.ts";
import * as z from "../../../shared/zod.ts";
import { parseJson } from "../parse-json.ts";
import { versionKinds } from "./version.ts";
import type { Version, VersionHead } from "./version.ts";

const text = z.nullable(z.string().check(z.maxLength(1_024)));
const sha256 = z.string().check(z.regex(/^[0-9a-f]{64}$/));
const path = z.string().check(z.refine((each) => isScopePath(each)));
const originClass = z.enum(originClasses);

/** As strict as a guest's request: people and other programs can write to the disk. */
const lineSchema = z.strictObject({
  seq: z.int().check(z.minimum(1)),
  at: z.string().check(z.regex(/^[+-]?\d{4,6}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)),
  kind: z.optional(z.enum(versionKinds)),
  tool: text,
  plugin: text,
  principal: text,
  class: originClass,
  trust: originClass,
  run: text,
  turn: text,
  source: text,
  callId: text,
  approval: z.optional(z.string().check(z.maxLength(128))),
  prev: sha256,
  files: z.array(
    z.strictObject({
      scope: z.string().check(z.regex(scopeName)),
      path,
      before: z.nullable(sha256),
      sha256: z.nullable(sha256),
      from: z.optional(path),
      trust: originClass,
    }),
  ),
});

const isLowering = ({ kind, run }: Pick<z.infer<typeof lineSchema>, "kind" | "run">): boolean =>
  kind === "lowered" && run !== null;

/** Without a line feed. */
export function lineOf(version: Version): string {
  const { seq, atMs, kind, tool, plugin, principal, trust, run, turn, source, callId, approval, prev, files } = version;
  const at = new Date(atMs).toISOString();
  const ofCall = { tool, plugin, principal, class: version.class, trust, run, turn, source, callId, approval };
  return JSON.stringify({ seq, at, kind, ...ofCall, prev, files });
}

export const headAfter = ({ seq }: Pick<Version, "seq">, line: string): VersionHead => ({
  seq,
  hash: hash("sha256", line),
});

/** `null` if the text is not a version's line. */
export function parseLine(line: string): Version | null {
  const parsed = z.safeParse(lineSchema, parseJson(line));
  if (!parsed.success || isLowering(parsed.data) !== (parsed.data.files.length === 0)) return null;
  const { at, ...version } = parsed.data;
  const atMs = Date.parse(at);
  return Number.isNaN(atMs) ? null : { ...version, atMs };
}
