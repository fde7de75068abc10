/** Input and output of `RestoreEntry`, which the host calls for the owner of the data. */
import * as z from "../../../shared/zod.ts";

/** Made for each call, as that of `InspectMemory`. */
export const restoreInput = () =>
  z.strictObject({ trashed: z.string({ error: "a path below trash/" }) }, { error: "no other field than trashed" });

export const restoreOutput = z.strictObject({ name: z.string(), path: z.string(), trashed: z.string() });

export type RestoreEntryOutput = z.infer<typeof restoreOutput>;
