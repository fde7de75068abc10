/** A program's values as JSON: exactly what JSON can hold, and bytes. */
import { base64Of, bytesOf } from "./base64-bytes.ts";
import { isMap } from "./data-map.ts";

/** Bytes are `{"$bytes":"…"}`, and a program's own key of this name has one `$` more. */
const bytesKey = "$bytes";

/** Makes the error for a value that would come back as something else. */
type Refuse = (place: string, expected: string, value: unknown) => Error;

interface Bounds {
  readonly levelsMax: number;
  readonly refuse: Refuse;
}

/** A copy for `JSON.stringify`. Throws for what would come back as something else. `place`: where the value is. */
export const storedForm = (value: unknown, place: string, bounds: Bounds): unknown =>
  formOf(value, place, bounds, bounds.levelsMax);

function formOf(value: unknown, place: string, bounds: Bounds, levels: number): unknown {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (value instanceof Uint8Array) return { [bytesKey]: base64Of(value) };
  if (levels > 0 && Array.isArray(value)) {
    return Array.from(value, (each, at) => formOf(each, `${place}[${at}]`, bounds, levels - 1));
  }
  // Symbols, and what is not enumerable, would be lost.
  const isPlain = isMap(value) && Reflect.ownKeys(value).length === Object.keys(value).length;
  if (levels === 0 || !isPlain)
    throw bounds.refuse(place, `JSON or bytes, at most ${bounds.levelsMax} levels deep`, value);
  const present = Object.entries(value).filter(([, each]) => each !== undefined);
  return Object.fromEntries(
    present.map(([key, each]) => [escaped(key), formOf(each, `${place}.${key}`, bounds, levels - 1)]),
  );
}

const escaped = (key: string): string => (/^\$+bytes$/.test(key) ? `$${key}` : key);

/** The value that had the stored form, as a copy. */
export function givenForm(stored: unknown): unknown {
  if (Array.isArray(stored)) return stored.map(givenForm);
  if (!isMap(stored)) return stored;
  const bytes = stored[bytesKey];
  if (typeof bytes === "string") return bytesOf(bytes);
  return Object.fromEntries(
    Object.entries(stored).map(([key, each]) => [key.replace(/^\$(?=\$+bytes$)/, ""), givenForm(each)]),
  );
}
