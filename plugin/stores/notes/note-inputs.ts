/** The inputs of the tool `CallerNotes`, one for each command. */
import * as z from "../../../shared/zod.ts";
import { wholeNumber } from "../../kit/inputs.ts";
import { entryLimits } from "../store-limits.ts";
import { noteLimits } from "./note-limits.ts";
import { isTime } from "./note-line.ts";
import { keyAllowed, namespaceAllowed } from "./note-place.ts";

const text = (allowed: string): z.ZodMiniType<string> => z.string({ error: allowed });

const content = text("a text");
const someText = z.optional(content);

const listAllowed = "a list of texts";
const texts = z.optional(z.array(text(listAllowed), { error: listAllowed }));

const upTo = (most: number): z.ZodMiniType<number | undefined> =>
  z.optional(wholeNumber(`a whole number from 1 to ${most}`, 1, most));

const namespace = text(namespaceAllowed);
const place = { namespace, key: text(keyAllowed) };

const only = (names: string): { error: string } => ({ error: `no other fields than ${names}` });

export const getNoteInput = z.strictObject({ command: z.literal("get"), ...place }, only("command, namespace and key"));

export const listNotesInput = z.strictObject(
  {
    command: z.literal("list"),
    namespaces: texts,
    prefix: someText,
    excludeSources: texts,
    limit: upTo(noteLimits.listedMax),
  },
  only("command, namespaces, prefix, excludeSources and limit"),
);

const query = text("words to look for").check(
  z.refine((given) => given.length <= entryLimits.queryCharsMax, {
    error: `at most ${entryLimits.queryCharsMax} characters`,
  }),
);

export const searchNotesInput = z.strictObject(
  { command: z.literal("search"), query, namespaces: texts, limit: upTo(noteLimits.foundMax) },
  only("command, query, namespaces and limit"),
);

const timeAllowed = "a time such as 2026-01-31T00:00:00.000Z";
const at = z.optional(text(timeAllowed).check(z.refine((given) => isTime(given), { error: timeAllowed })));

export const putNoteInput = z.strictObject(
  { command: z.literal("put"), ...place, content, description: someText, source: someText, at },
  only("command, namespace, key, content, description, source and at"),
);

export const forgetNoteInput = z.strictObject(
  { command: z.literal("forget"), ...place },
  only("command, namespace and key"),
);

export const pullNotesInput = z.strictObject(
  { command: z.literal("pull"), namespace, since: someText },
  only("command, namespace and since"),
);

const linesAllowed = `a list of at most ${noteLimits.pageLinesMax} changes`;
const lines = z
  .array(z.unknown(), { error: linesAllowed })
  .check(z.refine((given) => given.length <= noteLimits.pageLinesMax, { error: linesAllowed }));

export const pushNotesInput = z.strictObject(
  { command: z.literal("push"), namespace, lines },
  only("command, namespace and lines"),
);

type Fields<Schema extends z.ZodMiniType> = Omit<z.infer<Schema>, "command">;
export type GetNote = Fields<typeof getNoteInput>;
export type ListNotes = Fields<typeof listNotesInput>;
export type SearchNotes = Fields<typeof searchNotesInput>;
export type PutNote = Fields<typeof putNoteInput>;
export type ForgetNote = Fields<typeof forgetNoteInput>;
export type PullNotes = Fields<typeof pullNotesInput>;
export type PushNotes = Fields<typeof pushNotesInput>;
