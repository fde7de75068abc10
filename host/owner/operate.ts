/** Runs an operation of the data's owner: checks the caller, and records how it has ended. */
import type { AnyErrorCode } from "../../shared/errors.ts";
import { checkContext, readContext } from "../values/call-context.ts";
import type { CallContext } from "../values/call-context.ts";
import { ToolError, asToolError } from "../values/tool-error.ts";
import type { Action } from "./define-operation.ts";
import { Operation } from "./operation.ts";
import type { UpkeepParts } from "./operation.ts";

/** Checks the caller and runs an operation. The runtime stays open until it has ended, which can take several calls. */
export async function operate<Result>(
  parts: UpkeepParts,
  { name, action, changes }: Pick<Action<unknown, Result>, "name" | "action" | "changes">,
  ctx: CallContext,
  work: (operation: Operation) => Promise<Result>,
): Promise<Result> {
  const { admission, recorder } = parts;
  using _arrived = admission.arrive();
  const context = readContext(ctx);
  const record = recorder.beginUpkeep(name, action, context);
  let result: Result | undefined;
  let failure: ToolError | null = null;
  try {
    admission.checkOpen(action);
    if (parts.isReadOnly && changes) throw readOnly(action);
    result = await work(new Operation(parts, { ...checkContext(context, action), name, action, record }));
  } catch (error) {
    // A value without a code is a fault of the runtime.
    failure = asToolError(error, action);
  }
  const told = record.end(failure) ?? failure;
  if (told) throw told;
  return result as Result;
}

/** Errors that end an operation, and say nothing about files or plugins: a later attempt can succeed. */
export const endingCodes: ReadonlySet<AnyErrorCode> = new Set(["CANCELLED", "BUSY", "CLOSED"]);

/** For a failure that leaves everything as it is, and of which nobody need be told. */
export function passOver(error: unknown): null {
  if (error instanceof ToolError) return null;
  throw error;
}

/** For what cannot be used as it lies there: a link, or what somebody has damaged. */
export function ifUnsafe(error: unknown): ToolError {
  if (error instanceof ToolError && error.code === "STORAGE_UNSAFE") return error;
  throw error;
}

/** The error for what would change something in a read-only runtime. */
export const readOnly = (action: string): ToolError =>
  new ToolError("READ_ONLY", `Cannot ${action}: the runtime is read-only`);
