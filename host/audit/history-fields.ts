/** What records say about the history of files: where it ends after the changes of a call or an operation. */
import { storeIdPattern } from "../../shared/shared-scope.ts";
import * as z from "../../shared/zod.ts";

const historyEnd = z.strictObject({
  /** A shared store's id; `null` for the user's folder, or the mounted folder if the record says that there is one. */
  store: z.nullable(z.string().check(z.regex(storeIdPattern))),
  /** The number of the last version. */
  seq: z.int().check(z.nonnegative()),
  /** SHA-256 of its line, which has the hash of the line before. */
  hash: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
});

export type HistoryEnd = z.infer<typeof historyEnd>;

/** The stores that one change set can touch. */
const endsMax = 32;

export const versioned = {
  /** Absent if nothing was committed. Who changes or removes versions later would have to change the log as well. */
  history: z.optional(z.array(historyEnd).check(z.minLength(1), z.maxLength(endsMax))),
};
