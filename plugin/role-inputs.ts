/** The inputs of tools with a role, as `shared/roles.ts` defines them, with error texts. */
import type { EntriesInput, IndexInput, InspectInput, RestoreInput } from "../shared/roles.ts";
import * as z from "../shared/zod.ts";
import { wholeNumber } from "./whole-number.ts";

export function indexInput(): z.ZodMiniType<IndexInput> {
  const room = z.optional(wholeNumber("a whole number"));
  return z.strictObject({ linesMax: room, bytesMax: room }, { error: "no other fields than linesMax and bytesMax" });
}

/** The family's own bound, or the host's if that is lower; at least 0. */
export const lowered = (own: number, given: number = own): number => Math.max(0, Math.min(own, given));

export function entriesInput(): z.ZodMiniType<EntriesInput> {
  return z.strictObject({}, { error: "no fields" });
}

const listAllowed = "a list of texts";

export function inspectInput(): z.ZodMiniType<InspectInput> {
  const paths = z.optional(z.array(z.string({ error: listAllowed }), { error: listAllowed }));
  return z.strictObject(
    { mend: z.boolean({ error: "true or false" }), paths, incoming: paths },
    { error: "no other fields than mend, paths and incoming" },
  );
}

export function restoreInput(): z.ZodMiniType<RestoreInput> {
  return z.strictObject(
    { trashed: z.string({ error: "a path below trash/" }) },
    { error: "no other field than trashed" },
  );
}
