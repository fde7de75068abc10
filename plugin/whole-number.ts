import * as z from "../shared/zod.ts";

/** A safe integer from `minimum`. zod's own number would add 16 KB to a plugin, and nothing else here needs it. */
export function wholeNumber(allowed: string, minimum: number = Number.MIN_SAFE_INTEGER): z.ZodMiniType<number> {
  const isWithin = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= minimum;
  return z
    .unknown()
    .check(
      z.refine(isWithin, { error: allowed }),
      z.meta({ type: "integer", minimum, maximum: Number.MAX_SAFE_INTEGER }),
    ) as unknown as z.ZodMiniType<number>;
}
