import * as z from "../shared/zod.ts";

/** Not zod's own number, of which nothing else here has need: it would take 16 KB of a plugin. */
export function wholeNumber(allowed: string, minimum: number = Number.MIN_SAFE_INTEGER): z.ZodMiniType<number> {
  const isWithin = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= minimum;
  return z
    .unknown()
    .check(
      z.refine(isWithin, { error: allowed }),
      z.meta({ type: "integer", minimum, maximum: Number.MAX_SAFE_INTEGER }),
    ) as unknown as z.ZodMiniType<number>;
}
