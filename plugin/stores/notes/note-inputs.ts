/**
 * The inputs of the tool `CallerNotes`, one for each command. Each call creates its own schema: created at load time,
 * the schemas would be part of every instance, and few calls need one.
 */
import * as z from "../../../shared/zod.ts";
import { wholeNumber } from "../../whole-number.ts";
import { entryLimits } from "../store-limits.ts";
import { noteLimits } from "./note-limits.ts";
import { isTime } from "./note-line.ts";
import { keyAllowed, namespaceAllowed } from "./note-place.ts";

const text = (allowed: string): z.ZodMiniType<string> => z.string({ error: allowed });

const someText = (): z.ZodMiniType<string | undefined> => z.optional(text("a text"));

function texts(): z.ZodMiniType<string[] | undefined> {
  const allowed = "a list of texts";
  return z.optional(z.array(z.string({ error: allowed }), { error: allowed }));
}

function upTo(most: number): z.ZodMiniType<number | undefined> {
  const allowed = `a whole number from 1 to ${most}`;
  return z.optional(wholeNumber(allowed, 1).check(z.refine((given) => given <= most, { error: allowed })));
}

const place = () => ({ namespace: text(namespaceAllowed), key: text(keyAllowed) });

const only = (names: string): { error: string } => ({ error: `no other fields than ${names}` });

export const getNoteInput = () =>
  z.strictObject({ command: z.literal("get"), ...place() }, only("command, namespace and key"));

export const listNotesInput = () =>
  z.strictObject(
    {
      command: z.literal("list"),
      namespaces: texts(),
      prefix: someText(),
      excludeSources: texts(),
      limit: upTo(noteLimits.listedMax),
    },
    only("command, namespaces, prefix, excludeSources and limit"),
  );

export function searchNotesInput() {
  const error = `at most ${entryLimits.queryCharsMax} characters`;
  const query = text("words to look for").check(
    z.refine((given) => given.length <= entryLimits.queryCharsMax, { error }),
  );
  return z.strictObject(
    { command: z.literal("search"), query, namespaces: texts(), limit: upTo(noteLimits.foundMax) },
    only("command, query, namespaces and limit"),
  );
}

export function putNoteInput() {
  const error = "a time such as 2026-01-31T00:00:00.000Z";
  const at = z.optional(z.string({ error }).check(z.refine((given) => isTime(given), { error })));
  return z.strictObject(
    { command: z.literal("put"), ...place(), content: text("a text"), description: someText(), source: someText(), at },
    only("command, namespace, key, content, description, source and at"),
  );
}

export const forgetNoteInput = () =>
  z.strictObject({ command: z.literal("forget"), ...place() }, only("command, namespace and key"));

export const pullNotesInput = () =>
  z.strictObject(
    { command: z.literal("pull"), namespace: text(namespaceAllowed), since: someText() },
    only("command, namespace and since"),
  );

export function pushNotesInput() {
  const error = `a list of at most ${noteLimits.pageLinesMax} changes`;
  const lines = z
    .array(z.unknown(), { error })
    .check(z.refine((given) => given.length <= noteLimits.pageLinesMax, { error }));
  return z.strictObject(
    { command: z.literal("push"), namespace: text(namespaceAllowed), lines },
    only("command, namespace and lines"),
  );
}

type Fields<Make extends () => z.ZodMiniType> = Omit<z.infer<ReturnType<Make>>, "command">;
export type GetNote = Fields<typeof getNoteInput>;
export type ListNotes = Fields<typeof listNotesInput>;
export type SearchNotes = Fields<typeof searchNotesInput>;
export type PutNote = Fields<typeof putNoteInput>;
export type ForgetNote = Fields<typeof forgetNoteInput>;
export type PullNotes = Fields<typeof pullNotesInput>;
export type PushNotes = Fields<typeof pushNotesInput>;
