import { policyLimits } from "../../../shared/limits.ts";
import { parseStrictJson, UnfitJson } from "../../../shared/strict-json.ts";
import * as z from "../../../shared/zod.ts";
import { parsePlacedJson, placeInJson } from "../../values/json-place.ts";
import { issueText } from "./issue-text.ts";

/** A policy or its lock file cannot be used. The message is a clause about "it". */
export class UnusablePolicy extends RangeError {}

/** Parses JSON and checks it against a schema. An error about a file says in which line and column it is. */
export function readJson<Value>(text: string, schema: z.ZodMiniType<Value>, from: "file" | "object"): Value {
  const value = parse(text, from === "file" ? parsePlacedJson : parseStrictJson);
  const parsed = z.safeParse(schema, value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  if (!issue) throw new UnusablePolicy("it has the wrong form");
  const unknownKey = issue.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [];
  const place = from === "file" ? ` (${placeInJson(text, [...issue.path, ...unknownKey])})` : "";
  throw new UnusablePolicy(issueText(issue, value) + place);
}

function parse(text: string, parseJson: typeof parseStrictJson): unknown {
  const { fileBytesMax, depthMax } = policyLimits;
  const bytes = Buffer.byteLength(text);
  if (bytes > fileBytesMax) throw new UnusablePolicy(`it is ${bytes} bytes, at most ${fileBytesMax} allowed`);
  try {
    return parseJson(text, depthMax);
  } catch (error) {
    if (!(error instanceof UnfitJson)) throw error;
    throw new UnusablePolicy(`it ${error.message}`, { cause: error.cause });
  }
}
