/** What one record of a WAL says: which files a change set leaves behind, and what was there before. */
import { isUtf8 } from "node:buffer";
import { hash } from "node:crypto";

import { isScopePath, scopeName } from "../../../../shared/path.ts";
import * as z from "../../../../shared/zod.ts";
import { ToolError } from "../../../values/tool-error.ts";
import { walLimits } from "./wal-limits.ts";

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

export interface RecordedFile {
  readonly scope: string;
  readonly path: string;
  readonly before: string | null;
  readonly after: Buffer | null;
}

export interface WalRecord {
  readonly boot: string | null;
  readonly files: readonly RecordedFile[];
}

/** Throws `QUOTA_EXCEEDED` when the files hold more than one record takes. */
export function encodeFiles({ boot, files }: WalRecord): Buffer {
  const bytes = files.reduce((sum, { after }) => sum + (after?.length ?? 0), 0);
  if (bytes > walLimits.contentBytesMax) {
    throw new ToolError(
      "QUOTA_EXCEEDED",
      `Cannot make the change durable: its files hold ${bytes} bytes, at most ${walLimits.contentBytesMax} allowed`,
    );
  }
  const written = files.map((file) => ({ ...file, after: file.after && encodeContent(file.after) }));
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

export function digestOf(content: Uint8Array | null): string | null {
  return content && hash("sha256", content);
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
