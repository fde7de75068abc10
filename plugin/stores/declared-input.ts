/** The input of the tool `memory` as its declaration shows it. Not part of the guest. */
import { accessLevels } from "../../shared/shared-scope.ts";
import * as z from "../../shared/zod.ts";
import { entryLimits } from "./store-limits.ts";

const { queryCharsMax, ttlSecondsMax } = entryLimits;

/** All commands in one flat object, because most APIs refuse a schema whose top level is a union. */
export const memoryInput = z.strictObject({
  command: z
    .enum(["view", "create", "edit", "delete", "rename", "search", "share", "unshare", "stores"])
    .check(z.meta({ description: "What to do" })),
  path: z.optional(
    z.string().check(
      z.meta({
        description:
          "/memories/<key>, or /memories/shared/<store_id>/<key> in a store that was shared. With view, a path that " +
          "ends in / lists what is below it. With search, a store's folder searches that store alone",
        maxLength: 300,
      }),
    ),
  ),
  content: z
    .optional(z.unknown())
    .check(z.meta({ description: "Required for create. Text, or any other JSON value; at most 100 KiB" })),
  old_str: z.optional(
    z.string().check(z.meta({ description: "Required for edit. The text to replace, exactly as it is, present once" })),
  ),
  new_str: z.optional(
    z.string().check(z.meta({ description: "Required for edit and rename. The new text; with rename the new path" })),
  ),
  query: z.optional(
    z.string().check(z.meta({ description: "Required for search. Words to look for", maxLength: queryCharsMax })),
  ),
  ttl: z.optional(
    z.unknown().check(
      z.meta({
        description: "After how many seconds the entry (create) or the grant (share) ends. Default: never",
        type: "integer",
        minimum: 1,
        maximum: ttlSecondsMax,
      }),
    ),
  ),
  agent: z.optional(
    z.string().check(z.meta({ description: "Required for share and unshare. The id of the other agent's store" })),
  ),
  level: z.optional(
    z.enum(accessLevels).check(
      z.meta({
        description: "With share: what the agent may do. read, the default, includes search; readwrite includes read",
      }),
    ),
  ),
});
