/** What one record of a WAL says: which files a change set leaves behind, and what was there before. */
import { isUtf8 } from "node:buffer";

import { isScopePath, scopeName } from "../../../../shared/path.ts";
import * as z from "../../../../shared/zod.ts";
import { refuseBytes } from "../../plan-changes.ts";
import type { ChangedFile } from "../../plan-changes.ts";

const digest = z.string().check(z.regex(/^[0-9a-f]{64}$/));
const path = z.string().check(z.refine((text) => isScopePath(text)));

/** Validated as strictly as a guest's request: a record is read from a disk that others can write to. */
const recordSchema = z.strictObject({
  /** The start of the machine in which it was written; `null` where the system does not say. */
  boot: z.nullable(z.string()),
  files: z.array(
    z.strictObject({
      scope: z.string().check(z.regex(scopeName)),
      path,
      /** SHA-256 of what was there; `null` when nothing was. */
      before: z.nullable(digest),
      /** What is to be there; `null` when nothing is. Text as it is, other bytes in base64. */
      after: z.nullable(z.union([z.strictObject({ text: z.string() }), z.strictObject({ base64: z.string() })])),
    }),
  ),
});

export interface WalRecord {
  readonly boot: string | null;
  readonly files: readonly ChangedFile[];
}

/** Throws `QUOTA_EXCEEDED` when the files hold more than one change set may. */
export function encodeFiles({ boot, files }: WalRecord): Buffer {
  refuseBytes(files);
  const written = files.map(({ scope, path: at, before, after }) => ({
    scope,
    path: at,
    before,
    after: after && encodeContent(after),
  }));
  return Buffer.from(JSON.stringify({ boot, files: written }));
}

export function decodeFiles(json: Buffer): WalRecord | null {
  const parsed = z.safeParse(recordSchema, parseJson(json));
  if (!parsed.success) return null;
  const { boot, files } = parsed.data;
  return {
    boot,
    files: files.map(({ scope, path: at, before, after }) => ({
      scope,
      path: at,
      before,
      after: after && decodeContent(after),
    })),
  };
}

function encodeContent(content: Buffer): { text: string } | { base64: string } {
  return isUtf8(content) ? { text: content.toString("utf8") } : { base64: content.toString("base64") };
}

function decodeContent(content: { text: string } | { base64: string }): Buffer {
  return "text" in content ? Buffer.from(content.text) : Buffer.from(content.base64, "base64");
}

function parseJson(json: Buffer): unknown {
  try {
    return JSON.parse(json.toString("utf8"));
  } catch {
    return undefined;
  }
}
