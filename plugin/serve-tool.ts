/**
 * What every exported tool does around its own work: parse the input, answer with an envelope.
 *
 * Success is an envelope as output and the code 0. Failure is an envelope as Extism error and the code 1; the error
 * reaches Extism as the message of an `Error`, which is how the PDK of any compiler reports one. Its cause stays with
 * it: by that the prelude finds an engine out of memory, which it reports itself, without making any text.
 */
import { failed } from "../shared/envelope.ts";
import type { Envelope, GuestFailed } from "../shared/envelope.ts";
import { parseInput } from "./parse-input.ts";
import type { InputRules, InputSchema } from "./parse-input.ts";
import { ToolError } from "./tool-error.ts";

/** What a tool returns: a sentence for the model, and data as its output schema says. */
export interface Answer<Data> {
  readonly message: string;
  readonly data: Data;
}

export function serveTool<Input, Data>(
  toolName: string,
  schema: InputSchema<Input>,
  work: (input: Input) => Answer<Data>,
): number {
  return serveWithCodes({ toolName, schema }, work);
}

/** The same for a family that has codes of its own for wrong inputs. */
export function serveWithCodes<Input, Data>(rules: InputRules<Input>, work: (input: Input) => Answer<Data>): number {
  let answer: Answer<Data>;
  try {
    answer = work(parseInput(rules, Host.inputString()));
  } catch (error) {
    throw new Error(JSON.stringify(failureOf(rules.toolName, error)), { cause: error });
  }
  const envelope: Envelope = { ok: true, ...answer };
  Host.outputString(JSON.stringify(envelope));
  return 0;
}

function failureOf(toolName: string, error: unknown): GuestFailed {
  if (error instanceof ToolError) {
    const { code, message, issues } = error;
    return { ok: false, error: { code, message, ...(issues && { issues }) } };
  }
  const reason = error instanceof Error ? error.message : String(error);
  return failed("GUEST_TRAPPED", `Cannot finish ${toolName}: the plugin's code failed (${reason})`);
}
