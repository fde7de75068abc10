import { asToolError } from "../values/tool-error.ts";
import type { ToolError } from "../values/tool-error.ts";

export type Outcome<Result> = { readonly result: Result } | { readonly failure: ToolError };

/** How an operation has ended. A value without a code is a fault of the runtime. */
export async function outcomeOf<Result>(action: string, work: () => Promise<Result>): Promise<Outcome<Result>> {
  try {
    return { result: await work() };
  } catch (error) {
    return { failure: asToolError(error, action) };
  }
}
