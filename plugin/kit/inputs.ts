/** Parts of the inputs of all families: a whole number; the inputs of the roles, as `shared/roles.ts` defines them. */
import type { EntriesInput, IndexInput, InspectInput, RestoreInput } from "../../shared/roles.ts";
import * as z from "../../shared/zod.ts";

/**
 * A safe integer from `minimum` to `maximum`. One test has both bounds, because
 * every instance has all tests in its memory: zod's own number with bounds has four.
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

const room = z.optional(wholeNumber("a whole number"));

export const indexInput: z.ZodMiniType<IndexInput> = z.strictObject(
  { linesMax: room, bytesMax: room },
  { error: "no other fields than linesMax and bytesMax" },
);

/** The family's own bound, or the host's if that is lower; at least 0. */
export const lowered = (own: number, given: number = own): number => Math.max(0, Math.min(own, given));

export const entriesInput: z.ZodMiniType<EntriesInput> = z.strictObject({}, { error: "no fields" });

const listAllowed = "a list of texts";
const paths = z.optional(z.array(z.string({ error: listAllowed }), { error: listAllowed }));

export const inspectInput: z.ZodMiniType<InspectInput> = z.strictObject(
  { mend: z.boolean({ error: "true or false" }), paths, incoming: paths },
  { error: "no other fields than mend, paths and incoming" },
);

export const restoreInput: z.ZodMiniType<RestoreInput> = z.strictObject(
  { trashed: z.string({ error: "a path below trash/" }) },
  { error: "no other field than trashed" },
);
