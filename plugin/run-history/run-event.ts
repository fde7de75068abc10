import type { StoredType } from "../../shared/run-history/event-types.ts";
import type { Labels } from "../../shared/run-history/wire-event.ts";
import { isObject } from "../kit/check-value.ts";

/** By type: the fields of its data that are JSON text. */
export const jsonFields: Readonly<Partial<Record<StoredType, readonly string[]>>> = {
  tool_call: ["payload"],
  tool_result: ["result_json", "server_data"],
  opaque: ["json"],
  snapshot: ["json"],
};

export function isLabels(value: unknown): value is Labels {
  if (!isObject(value)) return false;
  for (const name in value) if (!isFit(name) || !isFit(value[name])) return false;
  return true;
}

/** An answer cannot have a text with a lone surrogate. */
const isFit = (text: unknown): boolean => typeof text === "string" && text.isWellFormed();
