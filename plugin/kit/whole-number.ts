import * as z from "../../shared/zod.ts";

/**
 * A safe integer from `minimum` to `maximum`. zod's own number would add 16 KB to a plugin, and nothing else here needs
 * it. One test has both bounds: a second one would get values that are no numbers, too.
 */
export function wholeNumber(
  allowed: string,
  minimum: number = Number.MIN_SAFE_INTEGER,
  maximum: number = Number.MAX_SAFE_INTEGER,
): z.ZodMiniType<number> {
  const isWithin = (value: unknown): boolean =>
    Number.isSafeInteger(value) && Number(value) >= minimum && Number(value) <= maximum;
  return z
    .unknown()
    .check(
      z.refine(isWithin, { error: allowed }),
      z.meta({ type: "integer", minimum, maximum }),
    ) as unknown as z.ZodMiniType<number>;
}
