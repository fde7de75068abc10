/**
 * Wraps every exported tool: parses the input and answers with an envelope.
 *
 * Success is an envelope as output, and the code 0. Failure is an envelope as Extism error, and the code 1. The
 * envelope is the message of a thrown `Error`, because the PDK of every compiler reports errors like this. The `Error`
 * keeps its cause, from which the prelude recognizes that the engine is out of memory. The prelude reports that itself,
 * without creating any text.
 */
import { showsConfigKey } from "../../shared/abi.ts";
import { failed } from "../../shared/envelope.ts";
import type { GuestFailed, GuestSuccess } from "../../shared/envelope.ts";
import { callLimits } from "../../shared/limits.ts";
import { exceedsUtf8Bytes } from "../../shared/text.ts";
import type * as z from "../../shared/zod.ts";
import { shownJson } from "./hidden-text.ts";
import { inputParser } from "./parse-input.ts";
import type { InputRules } from "./parse-input.ts";
import { ToolError } from "./tool-error.ts";

/** A sentence for the model, and data that fits the tool's output schema. */
export interface Answer<Data> {
  readonly message: string;
  readonly data: Data;
  /**
   * The files of entries of which the answer shows any part, each by `Scope.place`: the host says where they come from.
   * The call has read each of them, or a file that the family derives from others. Without it, all that was read counts.
   */
  readonly shows?: readonly string[];
}

/** Makes the function that the export of a tool for models is. */
export function serveTool<Input, Data>(
  toolName: string,
  schema: z.ZodMiniType<Input>,
  work: (input: Input) => Answer<Data>,
): () => number {
  return serveWithCodes({ toolName, schema }, work);
}

/** The same for a tool that only programs call: their inputs are read exactly. Its answers can reach a model. */
export function serveHostTool<Input, Data>(
  toolName: string,
  schema: z.ZodMiniType<Input>,
  work: (input: Input) => Answer<Data>,
): () => number {
  return serveWithCodes({ toolName, schema, isExact: true }, work);
}

/**
 * The same for a tool whose answers only programs get. They get every text as it is stored: any other answer can reach a
 * model, so it shows hidden characters as escapes.
 */
export function serveProgram<Input, Data>(
  toolName: string,
  schema: z.ZodMiniType<Input>,
  work: (input: Input) => Answer<Data>,
): () => number {
  return serveWithCodes({ toolName, schema, isExact: true, isForProgram: true }, work);
}

/** Like `serveTool`, for a family with its own codes for wrong inputs. */
export function serveWithCodes<Input, Data>(
  rules: InputRules<Input> & { readonly isForProgram?: boolean },
  work: (input: Input) => Answer<Data>,
): () => number {
  // The function below must not keep the rules: their schema would be a tenth of every instance.
  const { toolName, isForProgram = false } = rules;
  const parse = inputParser(rules);
  return () => {
    let answer: Answer<Data>;
    try {
      answer = work(parse(Host.inputString()));
    } catch (error) {
      const failure = failureOf(toolName, error);
      throw new Error(shownJson(JSON.stringify(failure), failure), { cause: error });
    }
    const { message, data, shows } = answer;
    const envelope: GuestSuccess = { ok: true, message, data };
    if (isAsked(shows)) envelope.shows = shows;
    const json = JSON.stringify(envelope);
    Host.outputString(isForProgram ? json : shownJson(json, envelope));
    return 0;
  };
}

/** Whether the host has asked for it, and it has room beside an answer. */
const isAsked = (shows: readonly string[] | undefined): boolean =>
  shows !== undefined &&
  Config.get(showsConfigKey) !== null &&
  !exceedsUtf8Bytes(JSON.stringify(shows), callLimits.showsBytesMax);

function failureOf(toolName: string, error: unknown): GuestFailed {
  if (error instanceof ToolError) {
    const { code, message, issues } = error;
    return { ok: false, error: { code, message, ...(issues && { issues }) } };
  }
  const reason = error instanceof Error ? error.message : String(error);
  return failed("GUEST_TRAPPED", `Cannot finish ${toolName}: the plugin's code failed (${reason})`);
}
