/** The inputs of the commands of `memory`. */
import { accessLevels } from "../../shared/shared-scope.ts";
import * as z from "../../shared/zod.ts";
import { wholeNumber } from "../kit/inputs.ts";
import { entryLimits } from "./store-limits.ts";

const text = (allowed: string): z.ZodMiniType<string> => z.string({ error: allowed });
const { ttlSecondsMax } = entryLimits;

export const ttlField = z.optional(
  wholeNumber(`a whole number of seconds from 1 to ${ttlSecondsMax}`, 1, ttlSecondsMax),
);

const pathAllowed = "a path such as /memories/notes.md";
const path = z.optional(text(pathAllowed));
/** Of a command that does without: `""` says nothing there. */
const folder = z.optional(text(pathAllowed).check(z.refine((given) => given !== "", { error: pathAllowed })));
const [content, ttl] = [z.optional(z.unknown()), ttlField];
const old_str = z.optional(text("a text"));
const [new_str, query] = [old_str, old_str];
const agent = z.optional(text("the id of an agent's store"));
const level = z.optional(z.enum(accessLevels, { error: 'one of "search", "read", "readwrite"' }));

const only = (names: string): { error: string } => ({ error: `no other fields than ${names}` });

export const viewInput = z.strictObject({ command: z.literal("view"), path }, only("command and path"));
export const createInput = z.strictObject(
  { command: z.literal("create"), path, content, ttl, file_text: z.optional(text("a text")) },
  only("command, path, content and ttl"),
);
export const editInput = z.strictObject(
  { command: z.literal("edit"), path, old_str, new_str },
  only("command, path, old_str and new_str"),
);
export const deleteInput = z.strictObject({ command: z.literal("delete"), path }, only("command and path"));
export const renameInput = z.strictObject(
  { command: z.literal("rename"), path, new_str, old_path: path, new_path: path },
  only("command, path and new_str"),
);
export const searchInput = z.strictObject(
  { command: z.literal("search"), path: folder, query },
  only("command, path and query"),
);
export const shareInput = z.strictObject(
  { command: z.literal("share"), path: folder, agent, level, ttl },
  only("command, path, agent, level and ttl"),
);
export const unshareInput = z.strictObject(
  { command: z.literal("unshare"), path: folder, agent },
  only("command, path and agent"),
);
export const storesInput = z.strictObject({ command: z.literal("stores") }, only("command"));

/** The fields of all commands. Each command takes some of them. Models often send the others, too, empty. */
export const memoryFields = ["path", "content", "old_str", "new_str", "query", "ttl", "agent", "level"] as const;

/** The names that some of them have in Anthropic's memory tool. Models know them, so the commands take them, too. */
export const anthropicNames = ["file_text", "old_path", "new_path"] as const;

type Fields<Schema extends z.ZodMiniType> = Omit<z.infer<Schema>, "command">;
export type PathInput = Fields<typeof viewInput>;
export type CreateInput = Fields<typeof createInput>;
export type EditInput = Fields<typeof editInput>;
export type RenameInput = Fields<typeof renameInput>;
export type SearchInput = Fields<typeof searchInput>;
export type ShareInput = Fields<typeof shareInput>;
