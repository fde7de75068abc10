/** The inputs of the commands of Anthropic's memory tool, `memory_20250818`. */
import * as z from "../../../shared/zod.ts";

const text = (allowed: string): z.ZodMiniType<string> => z.string({ error: allowed });

const path = text("a path such as /memories/notes.txt");
const someText = text("a text");

/** Any number: the command itself says which lines there are. */
const line = z
  .unknown()
  .check(z.refine((value) => typeof value === "number", { error: "a number" })) as unknown as z.ZodMiniType<number>;

const isRange = (value: unknown): boolean => {
  if (!Array.isArray(value) || value.length !== 2) return false;
  return value.every((each) => Number.isSafeInteger(each)) && Number(value[1]) >= -1;
};

const rangeAllowed = "two whole numbers, the first and the last line; -1 stands for the end of the file";

const range = z
  .array(z.unknown(), { error: rangeAllowed })
  .check(z.refine(isRange, { error: rangeAllowed })) as unknown as z.ZodMiniType<[first: number, last: number]>;

const only = (names: string): { error: string } => ({ error: `no other fields than ${names}` });

export const viewInput = z.strictObject(
  { command: z.literal("view"), path, view_range: z.optional(range) },
  only("command, path and view_range"),
);
export const createInput = z.strictObject(
  { command: z.literal("create"), path, file_text: someText },
  only("command, path and file_text"),
);
export const replaceInput = z.strictObject(
  { command: z.literal("str_replace"), path, old_str: someText, new_str: z.optional(someText) },
  only("command, path, old_str and new_str"),
);
export const insertInput = z.strictObject(
  { command: z.literal("insert"), path, insert_line: line, insert_text: someText },
  only("command, path, insert_line and insert_text"),
);
export const deleteInput = z.strictObject({ command: z.literal("delete"), path }, only("command and path"));
export const renameInput = z.strictObject(
  { command: z.literal("rename"), old_path: path, new_path: path },
  only("command, old_path and new_path"),
);

type Fields<Schema extends z.ZodMiniType> = Omit<z.infer<Schema>, "command">;
export type ViewInput = Fields<typeof viewInput>;
export type CreateInput = Fields<typeof createInput>;
export type ReplaceInput = Fields<typeof replaceInput>;
export type InsertInput = Fields<typeof insertInput>;
export type PathInput = Fields<typeof deleteInput>;
export type RenameInput = Fields<typeof renameInput>;
