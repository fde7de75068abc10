/**
 * Parses JSON that means the same to every reader. With a repeated key, `JSON.parse` takes the last value, other
 * parsers take the first or fail. What a file requests or grants must not depend on its reader.
 */
import { jsonDepth, quoted } from "./text.ts";

/** The message is a predicate about the text: "is not JSON". */
export class UnfitJson extends RangeError {
  /** Where the mistake begins, in UTF-16 units, if that is known. */
  readonly at: number | undefined;

  constructor(message: string, { at, cause }: { readonly at?: number; readonly cause?: unknown } = {}) {
    super(message, { cause });
    this.at = at;
  }
}

/** Throws `UnfitJson`, also for repeated keys and `__proto__`, which `JSON.parse` accepts. */
export function parseStrictJson(text: string, depthMax: number): unknown {
  const depth = jsonDepth(text);
  if (depth > depthMax) throw new UnfitJson(`is ${depth} levels deep, at most ${depthMax} allowed`);
  const value = parse(text);
  checkKeys(text);
  return value;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new UnfitJson("is not JSON", { cause });
  }
}

const tokens = /"(?:[^"\\]+|\\.)*"(\s*:)?|[{}]/g;

/** JSON allows the key `__proto__`, but most code loses it later. The text is already known to be JSON. */
function checkKeys(json: string): void {
  const objects: Set<unknown>[] = [];
  for (const { 0: token, 1: colon, index: at } of json.matchAll(tokens)) {
    if (token === "{") objects.push(new Set());
    else if (token === "}") objects.pop();
    else if (colon !== undefined) {
      const key = JSON.parse(token.slice(0, -colon.length)) as string;
      const keys = objects.at(-1);
      if (keys?.has(key)) throw new UnfitJson(`has the key ${quoted(key)} twice in one object`, { at });
      if (key === "__proto__") throw new UnfitJson('has the key "__proto__", which names nothing', { at });
      keys?.add(key);
    }
  }
}
