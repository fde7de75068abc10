/**
 * JSON that says the same to every reader. Of two equal keys `JSON.parse` takes the last and others the first, or fail:
 * what a file asks for or grants must not depend on who reads it.
 */
import { jsonDepth, quoted } from "./text.ts";

/** The message is what is said of the text: "is not JSON". */
export class UnfitJson extends RangeError {}

/** Throws `UnfitJson`, also for what `JSON.parse` would pass over in silence. */
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

/** `__proto__` is a key to JSON like any other, and none to most code that comes after. The text is known to be JSON. */
function checkKeys(json: string): void {
  const objects: Set<unknown>[] = [];
  for (const [token, colon] of json.matchAll(tokens)) {
    if (token === "{") objects.push(new Set());
    else if (token === "}") objects.pop();
    else if (colon !== undefined) {
      const key = JSON.parse(token.slice(0, -colon.length)) as string;
      const keys = objects.at(-1);
      if (keys?.has(key)) throw new UnfitJson(`has the key ${quoted(key)} twice in one object`);
      if (key === "__proto__") throw new UnfitJson('has the key "__proto__", which names nothing');
      keys?.add(key);
    }
  }
}
