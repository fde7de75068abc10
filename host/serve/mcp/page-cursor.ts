import { invalidParams } from "./protocol-failure.ts";

/** The cursor of the next page, if there is one. It contains only a position, so it is valid for any user. */
export function nextCursor(offset: number, count: number): { nextCursor?: string } {
  return offset < count ? { nextCursor: Buffer.from(`from ${offset}`).toString("base64url") } : {};
}

/** Throws -32602 for a cursor that `nextCursor` did not create. */
export function offsetOf(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  const offset = /^[\w-]{1,24}$/.test(cursor)
    ? /^from ([1-9]\d{0,5})$/.exec(Buffer.from(cursor, "base64url").toString("latin1"))?.[1]
    : undefined;
  if (offset !== undefined) return Number(offset);
  throw invalidParams(
    "Cannot list resources: the cursor is not from this server, allowed: nextCursor of the page before",
  );
}
