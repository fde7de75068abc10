/** Items as JSON: exactly what JSON can hold, and bytes. */
import { base64Of, bytesOf } from "../run-history/base64-bytes.ts";
import { dataDepthMax } from "../run-history/data-depth.ts";
import { isMap } from "../run-history/data-map.ts";
import { inputError } from "../run-history/run-history-error.ts";

/** Bytes are `{"$bytes":"…"}`, and a program's own key of this name has one `$` more. */
const bytesKey = "$bytes";

/** The JSON text of items. Throws for what would come back as something else. `place`: where they are. */
export function itemsText(items: unknown, place: string): string {
  const stored = storedForm(items, place, dataDepthMax);
  if (!Array.isArray(stored)) throw notJson(place, "a list of items");
  const at = stored.findIndex((each) => !isMap(each));
  if (at !== -1) throw notJson(`${place}[${at}]`, "an object");
  return JSON.stringify(stored);
}

function storedForm(value: unknown, place: string, levels: number): unknown {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (value instanceof Uint8Array) return { [bytesKey]: base64Of(value) };
  if (levels > 0 && Array.isArray(value)) {
    return Array.from(value, (each, at) => storedForm(each, `${place}[${at}]`, levels - 1));
  }
  // Symbols, and what is not enumerable, would be lost.
  const isPlain = isMap(value) && Reflect.ownKeys(value).length === Object.keys(value).length;
  if (levels === 0 || !isPlain) throw notJson(place, `JSON or bytes, at most ${dataDepthMax} levels deep`);
  const present = Object.entries(value).filter(([, each]) => each !== undefined);
  return Object.fromEntries(
    present.map(([key, each]) => [escaped(key), storedForm(each, `${place}.${key}`, levels - 1)]),
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

/** The same text for values that differ only in the order of their keys. */
export const canonicalJson = (value: unknown): string =>
  JSON.stringify(value, (_key, each: unknown) =>
    isMap(each) ? Object.fromEntries(Object.entries(each).toSorted(([a], [b]) => (a < b ? -1 : 1))) : each,
  );

/** Without the value, which may be a secret. */
const notJson = (field: string, allowed: string) =>
  inputError("keep the items", { field, value: "something else", allowed });
