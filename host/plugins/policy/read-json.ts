import { policyLimits } from "../../../shared/limits.ts";
import { parseStrictJson, UnfitJson } from "../../../shared/strict-json.ts";
import * as z from "../../../shared/zod.ts";
import { issueText } from "./issue-text.ts";

/** A policy or its lock file cannot be used. The message is a clause about "it". */
export class UnusablePolicy extends RangeError {}

/** Parses JSON and checks it against a schema. */
export function readJson<Value>(text: string, schema: z.ZodMiniType<Value>): Value {
  const value = parse(text);
  const parsed = z.safeParse(schema, value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new UnusablePolicy(issue ? issueText(issue, value) : "it has the wrong form");
}

function parse(text: string): unknown {
  const { fileBytesMax, depthMax } = policyLimits;
  const bytes = Buffer.byteLength(text);
  if (bytes > fileBytesMax) throw new UnusablePolicy(`it is ${bytes} bytes, at most ${fileBytesMax} allowed`);
  try {
    return parseStrictJson(text, depthMax);
  } catch (error) {
    if (!(error instanceof UnfitJson)) throw error;
    throw new UnusablePolicy(`it ${error.message}`, { cause: error.cause });
  }
}
