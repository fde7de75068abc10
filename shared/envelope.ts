/**
 * What a tool answers, and what every error looks like on its way across a border.
 *
 * Classes and codes of thrown errors survive neither a worker thread nor the sandbox; these values do.
 */
import type { ErrorCode } from "./errors.ts";
import * as z from "./zod.ts";

/** One thing that is wrong with an input: which field, what it is now, what it may be. */
export interface InputIssue {
  readonly field: string;
  readonly value: string;
  readonly allowed: string;
}

interface FailureText {
  /** The action, the present value and the allowed one; fit to be shown to a model. Never a host path. */
  readonly message: string;
  /** With `INPUT_INVALID`, and what is a case of it: each field that is wrong. */
  readonly issues?: readonly InputIssue[] | undefined;
}

/** With a code of the table. */
interface TableFailure extends FailureText {
  readonly code: ErrorCode;
  readonly of?: undefined;
}

/** With a code that the plugin declares, and the one of the table that it is a case of. The host adds `of`. */
interface DeclaredFailure extends FailureText {
  readonly code: string;
  readonly of: ErrorCode;
}

/** An error as a worker reports it. */
export type Failure = TableFailure | DeclaredFailure;

/** A tool's answer: on success a sentence for the model and the data its output schema describes. */
export type Envelope = { ok: true; message: string; data: unknown } | { ok: false; error: Failure };

const inputIssue = z.strictObject({ field: z.string(), value: z.string(), allowed: z.string() });

/** A failure as a guest tells it: its code may be one of the plugin's own, but what that is a case of is not for it to say. */
interface GuestFailure extends FailureText {
  readonly code: string;
}

export type GuestFailed = { ok: false; error: GuestFailure };

const failureSchema: z.ZodMiniType<GuestFailure> = z.strictObject({
  code: z.string().check(z.regex(/^[A-Z_]{1,64}$/)),
  message: z.string(),
  issues: z.optional(z.array(inputIssue)),
});

export const successSchema: z.ZodMiniType<Extract<Envelope, { ok: true }>> = z.strictObject({
  ok: z.literal(true),
  message: z.string(),
  data: z.unknown(),
});

/** The form alone: whether there is such a code, and whether the guest can know it, is asked behind. */
export const failedSchema: z.ZodMiniType<GuestFailed> = z.strictObject({
  ok: z.literal(false),
  error: failureSchema,
});

/** Makes the failed envelope of a code and a message. */
export function failed(
  code: ErrorCode,
  message: string,
  issues?: readonly InputIssue[],
): { ok: false; error: TableFailure } {
  return { ok: false, error: { code, message, ...(issues && { issues }) } };
}
