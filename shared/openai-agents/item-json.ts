/** Items as JSON text, and texts that can be compared. */
import { dataDepthMax } from "../data-depth.ts";
import { isMap } from "../run-history/data-map.ts";
import { inputError } from "../run-history/run-history-error.ts";
import { storedForm } from "../run-history/stored-form.ts";

/** The JSON text of items. Throws for what would come back as something else. `place`: where they are. */
export function itemsText(items: unknown, place: string): string {
  const stored = storedForm(items, place, { levelsMax: dataDepthMax, refuse: notJson });
  if (!Array.isArray(stored)) throw notJson(place, "a list of items");
  const at = stored.findIndex((each) => !isMap(each));
  if (at !== -1) throw notJson(`${place}[${at}]`, "an object");
  return JSON.stringify(stored);
}

/** The same text for values that differ only in the order of their keys. */
export const canonicalJson = (value: unknown): string =>
  JSON.stringify(value, (_key, each: unknown) =>
    isMap(each) ? Object.fromEntries(Object.entries(each).toSorted(([a], [b]) => (a < b ? -1 : 1))) : each,
  );

/** Without the value, which may be a secret. */
const notJson = (field: string, allowed: string) =>
  inputError("keep the items", { field, value: "something else", allowed });
