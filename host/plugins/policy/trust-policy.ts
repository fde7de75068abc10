/** The trust that a policy asks for, and what becomes of a write. */
import { isAtLeast } from "../../../shared/origin.ts";
import type { OriginClass } from "../../../shared/origin.ts";
import type { TrustPolicy } from "./policy.ts";

/**
 * What nobody has told is active: most programs tell nothing. What comes from outside the program waits, whatever its
 * text says.
 */
export const trustDefaults: TrustPolicy = {
  active: "unstated",
  pending: "untrusted_document",
  prompt: "untrusted_document",
};

export type WriteVerdict = "active" | "pending" | "refused";

/** What becomes of a write with this trust. */
export function judgeWrite(trust: OriginClass, { active, pending }: TrustPolicy): WriteVerdict {
  if (isAtLeast(trust, active)) return "active";
  return isAtLeast(trust, pending) ? "pending" : "refused";
}
