import { peerPattern, refusalWordPattern } from "../../values/refusal.ts";
import type { Refusal } from "../../values/refusal.ts";
import { isUserId } from "../../values/user-id.ts";
import type { RefusedEntry } from "../audit-record.ts";

/** What stands where a surface or a reason is none. */
const unknownWord = "unknown";

/** A refusal as a record. Callers without types may pass anything: what of it is not valid is left out. */
export function refusedEntry(refusal: unknown): RefusedEntry {
  const { surface, reason, userId, peer } = readOnce(refusal);
  return {
    kind: "refused",
    surface: matching(refusalWordPattern, surface) ?? unknownWord,
    reason: matching(refusalWordPattern, reason) ?? unknownWord,
    userId: typeof userId === "string" && isUserId(userId) ? userId : null,
    peer: matching(peerPattern, peer),
    times: 1,
  };
}

/** Several of one kind, of whoever and from wherever. */
export function refusedTogether(surface: string, reason: string, times: number): RefusedEntry {
  return { kind: "refused", surface, reason, userId: null, peer: null, times };
}

type AskedRefusal = { readonly [Key in keyof Refusal]?: unknown };

/** Each property once; none of what throws when it is looked at. */
function readOnce(refusal: unknown): AskedRefusal {
  try {
    if (typeof refusal !== "object" || refusal === null) return {};
    const { surface, reason, userId, peer }: AskedRefusal = refusal;
    return { surface, reason, userId, peer };
  } catch {
    return {};
  }
}

function matching(pattern: RegExp, value: unknown): string | null {
  return typeof value === "string" && pattern.test(value) ? value : null;
}
