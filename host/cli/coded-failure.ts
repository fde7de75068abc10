import { ToolError } from "../values/tool-error.ts";
import { envelopeOf, resultOf } from "../values/tool-result.ts";

/** Runs a command; a coded error is printed as JSON, like a failed call, and is exit code 1. */
export async function orCodedFailure(run: () => Promise<number>): Promise<number> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    process.stdout.write(`${JSON.stringify(resultOf(envelopeOf(error)), null, 2)}\n`);
    return 1;
  }
}
