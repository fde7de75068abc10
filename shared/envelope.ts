/**
 * The form of a tool's answer and of every error that leaves a worker thread or the sandbox.
 *
 * Thrown errors lose their class and code there; these plain values do not.
 */
import type { ErrorCode } from "./errors.ts";
import * as z from "./zod.ts";

/** One wrong field of an input: its name, its present value, and what is allowed. */
export interface InputIssue {
  readonly field: string;
  readonly value: string;
  readonly allowed: string;
}

interface FailureText {
  /** The action, the present value and the allowed one. Can be shown to a model; never has a host path. */
  readonly message: string;
  /** Each wrong field, with `INPUT_INVALID` or a declared code that is a case of it. */
  readonly issues?: readonly InputIssue[] | undefined;
}

/** A failure with a code of the table. */
interface TableFailure extends FailureText {
  readonly code: ErrorCode;
  readonly of?: undefined;
}

/** A failure with a code that the plugin declares. The host adds `of`: the table's code that it is a case of. */
interface DeclaredFailure extends FailureText {
  readonly code: string;
  readonly of: ErrorCode;
}

/** An error as a worker reports it. */
export type Failure = TableFailure | DeclaredFailure;

/** A tool's answer. On success: a sentence for the model, and the data that the output schema describes. */
export type Envelope = { ok: true; message: string; data: unknown } | { ok: false; error: Failure };

const inputIssue = z.strictObject({ field: z.string(), value: z.string(), allowed: z.string() });

/** A failure as a guest reports it. The code can be one that the plugin declares; only the host sets `of`. */
interface GuestFailure extends FailureText {
  readonly code: string;
}

export type GuestFailed = { ok: false; error: GuestFailure };

const failureSchema: z.ZodMiniType<GuestFailure> = z.strictObject({
  code: z.string().check(z.regex(/^[A-Z_]{1,64}$/)),
  message: z.string(),
  issues: z.optional(z.array(inputIssue)),
});

/** A success as a guest reports it to a host that has asked with `showsConfigKey`. `shows` ends there. */
export type GuestSuccess = Extract<Envelope, { ok: true }> & {
  /** The files of which the answer shows any part, each as `placeIn` names it. */
  shows?: unknown;
};

export const successSchema: z.ZodMiniType<GuestSuccess> = z.strictObject({
  ok: z.literal(true),
  message: z.string(),
  data: z.unknown(),
  shows: z.optional(z.unknown()),
});

/** Checks the form only. Later checks decide whether the code exists and whether the guest can know it. */
export const failedSchema: z.ZodMiniType<GuestFailed> = z.strictObject({
  ok: z.literal(false),
  error: failureSchema,
});

/** Makes a failed envelope. */
export function failed(
  code: ErrorCode,
  message: string,
  issues?: readonly InputIssue[],
): { ok: false; error: TableFailure } {
  return { ok: false, error: { code, message, ...(issues && { issues }) } };
}
