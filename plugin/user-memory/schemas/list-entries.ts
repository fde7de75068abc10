/** Input and output of `ListEntries`, which the host calls for `runtime.memoryEntries()`. */
import * as z from "../../../shared/zod.ts";

/** Made for each call, as that of `InspectMemory`. */
export const listEntriesInput = () => z.strictObject({}, { error: "no fields" });

export const listEntriesOutput = z.strictObject({
  /** In the order of the index. */
  entries: z.array(z.strictObject({ name: z.string(), description: z.string() })),
});

export type ListEntriesOutput = z.infer<typeof listEntriesOutput>;
export type MemoryEntry = ListEntriesOutput["entries"][number];
