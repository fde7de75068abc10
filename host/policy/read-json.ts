import { policyLimits } from "../../shared/limits.ts";
import { jsonDepth, quoted } from "../../shared/text.ts";
import * as z from "../../shared/zod.ts";
import { issueText } from "./issue-text.ts";

/** Why a policy, or what it names, cannot be used: a clause about "it". */
export class UnusablePolicy extends RangeError {}

/** JSON text in the form of a schema. What `JSON.parse` would pass over in silence is refused. */
export function readJson<Value>(text: string, schema: z.ZodMiniType<Value>): Value {
  const value = parse(text);
  const parsed = z.safeParse(schema, value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new UnusablePolicy(issue ? issueText(issue, value) : "it has not the form of one");
}

function parse(text: string): unknown {
  const { fileBytesMax, depthMax } = policyLimits;
  const bytes = Buffer.byteLength(text);
  if (bytes > fileBytesMax) throw new UnusablePolicy(`it is ${bytes} bytes, at most ${fileBytesMax} allowed`);
  const depth = jsonDepth(text);
  if (depth > depthMax) throw new UnusablePolicy(`it is ${depth} levels deep, at most ${depthMax} allowed`);
  try {
    const value: unknown = JSON.parse(text);
    checkKeys(text);
    return value;
  } catch (error) {
    throw error instanceof UnusablePolicy ? error : new UnusablePolicy("it is not JSON", { cause: error });
  }
}

const tokens = /"(?:[^"\\]+|\\.)*"(\s*:)?|[{}]/g;

/**
 * Of two equal keys `JSON.parse` takes the last, and a reader the first: what is granted must not depend on who reads.
 * `__proto__` is a key to it like any other, and none to most code that comes after. The text is known to be JSON.
 */
function checkKeys(json: string): void {
  const objects: Set<unknown>[] = [];
  for (const [token, colon] of json.matchAll(tokens)) {
    if (token === "{") objects.push(new Set());
    else if (token === "}") objects.pop();
    else if (colon !== undefined) {
      const key = JSON.parse(token.slice(0, -colon.length)) as string;
      const keys = objects.at(-1);
      if (keys?.has(key)) throw new UnusablePolicy(`it has the key ${quoted(key)} twice in one object`);
      if (key === "__proto__") throw new UnusablePolicy('it has the key "__proto__", which names nothing');
      keys?.add(key);
    }
  }
}
