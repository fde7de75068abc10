/** The input of the tool `memory` as its declaration shows it. Not part of the guest. */
import { accessLevels } from "../../shared/shared-scope.ts";
import * as z from "../../shared/zod.ts";
import type { memoryFields } from "./memory-fields.ts";
import { entryLimits } from "./store-limits.ts";

const { queryCharsMax, ttlSecondsMax } = entryLimits;

const fields = {
  path: z.string().check(
    z.meta({
      description:
        "/memories/<key>, or /memories/shared/<store_id>/<key> in a store that was shared. With view, a path that " +
        "ends in / lists what is below it. With search, a store's folder searches that store alone",
      maxLength: 300,
    }),
  ),
  content: z
    .unknown()
    .check(z.meta({ description: "Required for create. Text, or any other JSON value; at most 100 KiB" })),
  old_str: z
    .string()
    .check(z.meta({ description: "Required for edit. The text to replace, exactly as it is, present once" })),
  new_str: z
    .string()
    .check(z.meta({ description: "Required for edit and rename. The new text; with rename the new path" })),
  query: z.string().check(z.meta({ description: "Required for search. Words to look for", maxLength: queryCharsMax })),
  ttl: z.unknown().check(
    z.meta({
      description: "After how many seconds the entry (create) or the grant (share) ends. Default: never",
      type: "integer",
      minimum: 1,
      maximum: ttlSecondsMax,
    }),
  ),
  agent: z.string().check(z.meta({ description: "Required for share and unshare. The id of the other agent's store" })),
  level: z.enum(accessLevels).check(
    z.meta({
      description: "With share: what the agent may do. read, the default, includes search; readwrite includes read",
    }),
  ),
} satisfies Record<(typeof memoryFields)[number], z.ZodMiniType>;

const { path, content, old_str, new_str, query, ttl, agent, level } = fields;

/** What each command takes besides its name. */
const commands = {
  view: { path },
  create: { path, content, ttl: z.optional(ttl) },
  edit: { path, old_str, new_str },
  delete: { path },
  rename: { path, new_str },
  search: { path: z.optional(path), query },
  share: { path: z.optional(path), agent, level: z.optional(level), ttl: z.optional(ttl) },
  unshare: { path: z.optional(path), agent },
  stores: {},
};

type Command = keyof typeof commands;

export const fieldsOf = (command: Command): string[] => Object.keys(commands[command]);

export const memoryInputExact: z.ZodMiniType = z.union(
  Object.entries(commands).map(([command, taken]) => z.strictObject({ command: z.literal(command), ...taken })),
);

/** All commands in one flat object, because most APIs refuse a schema whose top level is a union. */
export const memoryInput: z.ZodMiniType = z.strictObject({
  command: z.enum(Object.keys(commands)).check(z.meta({ description: "What to do" })),
  ...Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, z.optional<z.ZodMiniType>(field)])),
});
