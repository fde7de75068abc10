/** What records say about shared stores: which a call has reached and why, and whose access has changed. */
import { sharingLimits } from "../../shared/limits.ts";
import { accessLevels, accessSources, storeIdPattern } from "../../shared/shared-scope.ts";
import * as z from "../../shared/zod.ts";

const storeId = z.string().check(z.regex(storeIdPattern));

/** `none`: the caller does not reach it, or it does not exist. */
const reachedStore = z.strictObject({
  store: storeId,
  access: z.enum([...accessSources, "none"]),
  level: z.nullable(z.enum(accessLevels)),
});

/** Those that the guests of one call have asked for. */
const reachedMax = sharingLimits.runsMax * sharingLimits.storesMax;

export const reaching = {
  /** The shared stores about which the host has decided, and why; absent for a tool that reaches none. */
  stores: z.optional(z.array(reachedStore).check(z.maxLength(reachedMax))),
};

const grantChange = z.strictObject({
  store: storeId,
  grantee: storeId,
  /** `null`: revoked. */
  level: z.nullable(z.enum(accessLevels)),
  expiresMs: z.nullable(z.int().check(z.nonnegative())),
});

export const granting = {
  /** Whose access to a shared store is changed; absent if nobody's. */
  granted: z.optional(z.array(grantChange).check(z.maxLength(2 * sharingLimits.grantsMax))),
};
