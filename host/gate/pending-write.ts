/** A write that waits for the owner of the memory: what was called, and what it would change. */
import { isUtf8 } from "node:buffer";

import { originClasses } from "../../shared/origin.ts";
import * as z from "../../shared/zod.ts";
import type { SizedChange } from "../values/change-set.ts";
import { pendingIdOf } from "./pending-name.ts";

const sha256 = z.nullable(z.string().check(z.regex(/^[0-9a-f]{64}$/)));
const text = z.nullable(z.string());
const originClass = z.enum(originClasses);

/** As strict as a guest's request: people and other programs can write to the disk. */
const schema = z.strictObject({
  id: z.string(),
  atMs: z.int(),
  /** The time that the guest was given: run again with it, it writes the same. */
  epochMs: z.int(),
  tool: z.string(),
  plugin: z.string(),
  /** The call's input as JSON text. */
  input: z.string(),
  class: originClass,
  trust: originClass,
  run: text,
  turn: text,
  source: text,
  callId: z.string(),
  changes: z.array(
    z.strictObject({
      scope: z.string(),
      path: z.string(),
      /** SHA-256 of the content before; `null` if there was no file. */
      before: sha256,
      /** Where a file is moved to; `null` if it is written. */
      trashed: text,
      /** The new content, as text if it is UTF-8, else in base64; `null` for a file that is moved. */
      content: z.nullable(z.union([z.strictObject({ text: z.string() }), z.strictObject({ base64: z.string() })])),
    }),
  ),
});

/** What the record of a waiting write says. Times are in milliseconds since 1970-01-01 UTC. */
export type PendingWrite = Readonly<z.infer<typeof schema>>;
export type PendingChange = Readonly<PendingWrite["changes"][number]>;
/** All facts but the id. */
export type PendingFacts = Omit<PendingWrite, "id">;

export const encodePending = (write: PendingWrite): string => JSON.stringify(write);

/** `null` if the text is none that a host has written under this id. */
export function decodePending(id: string, json: string | null): PendingWrite | null {
  if (json === null) return null;
  try {
    const value: unknown = JSON.parse(json);
    const parsed = z.safeParse(schema, value);
    return parsed.success && parsed.data.id === id && isUnderItsId(value as PendingWrite) ? parsed.data : null;
  } catch {
    return null;
  }
}

const isUnderItsId = ({ id, ...facts }: PendingWrite): boolean => pendingIdOf(facts) === id;

/** A change as it is shown. `before`: what the file is now. */
export function pendingChange(change: SizedChange, before: string | null): PendingChange {
  const { scope, path } = change;
  if (change.kind === "write") {
    const bytes = Buffer.from(change.content);
    const content = isUtf8(bytes) ? { text: bytes.toString("utf8") } : { base64: bytes.toString("base64") };
    return { scope, path, before, trashed: null, content };
  }
  return { scope, path, before, trashed: change.kind === "trash" ? change.trashed : null, content: null };
}

/** The new content of a change; `null` if the file is moved. */
export function contentOf({ content }: PendingChange): Buffer | null {
  if (content === null) return null;
  return "text" in content ? Buffer.from(content.text) : Buffer.from(content.base64, "base64");
}
