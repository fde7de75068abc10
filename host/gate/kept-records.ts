/** Reads the records that the host keeps about a user, and says up to when they can be removed by time. */
import * as z from "../../shared/zod.ts";
import type { RecordKind } from "../store/home.ts";
import type { HostRecords } from "../store/host-records.ts";
import { parseJson } from "../store/reading.ts";
import { agree, readingSchema } from "../values/clock-reading.ts";
import { ToolError } from "../values/tool-error.ts";

/**
 * `null` if there is none, `undefined` if it cannot be read or no host has written it: people and other programs can write to
 * the disk. Fields are in the order in which they were written.
 */
export async function keptRecord<Kept>(
  records: HostRecords,
  [kind, name]: readonly [kind: RecordKind, name: string],
  schema: z.ZodMiniType<Kept>,
): Promise<Kept | null | undefined> {
  try {
    const json = await records.read(kind, name);
    const value = json === null ? null : parseJson(json);
    return json === null || z.safeParse(schema, value).success ? (value as Kept) : undefined;
  } catch (error) {
    if (error instanceof ToolError && error.code === "STORAGE_UNSAFE") return undefined;
    throw error;
  }
}

/**
 * Up to when records can be removed by time, as `clock-reading.ts` says. `isAsked`: something has ended by `nowMs`. If not, only
 * a reading that was wrong is forgotten.
 */
export async function agreedTime(
  records: HostRecords,
  nowMs: number,
  { isAsked }: { readonly isAsked: boolean },
): Promise<number> {
  const before = (await keptRecord(records, ["runs", "clock"], readingSchema)) ?? null;
  if (!isAsked && before !== null && before.atMs > nowMs) await records.remove("runs", "clock");
  if (!isAsked) return 0;
  const { agreedMs, noted } = agree(before, nowMs);
  if (noted !== before) await records.write("runs", "clock", JSON.stringify(noted));
  return agreedMs;
}
