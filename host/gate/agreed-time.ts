/** Up to when a user's records can be removed by time: see `clock-reading.ts`. */
import * as z from "../../shared/zod.ts";
import type { HostRecords } from "../store/host-records.ts";
import { parseJson } from "../store/parse-json.ts";
import { agree, readingSchema } from "../values/clock-reading.ts";
import type { ClockReading } from "../values/clock-reading.ts";
import { ToolError } from "../values/tool-error.ts";

const name = "clock";

/** `isAsked`: something has ended by `nowMs`. If not, only a reading that was wrong is forgotten. */
export async function agreedTime(
  records: HostRecords,
  nowMs: number,
  { isAsked }: { readonly isAsked: boolean },
): Promise<number> {
  const before = await readNoted(records);
  if (!isAsked && before !== null && before.atMs > nowMs) await records.remove("runs", name);
  if (!isAsked) return 0;
  const { agreedMs, noted } = agree(before, nowMs);
  if (noted !== before) await records.write("runs", name, JSON.stringify(noted));
  return agreedMs;
}

/** `null` also if it cannot be read: then nothing is removed. */
async function readNoted(records: HostRecords): Promise<ClockReading | null> {
  try {
    const json = await records.read("runs", name);
    const parsed = z.safeParse(readingSchema, json === null ? null : parseJson(json));
    return parsed.success ? parsed.data : null;
  } catch (error) {
    if (error instanceof ToolError && error.code === "STORAGE_UNSAFE") return null;
    throw error;
  }
}
