/** Copies JSON values, so that no two programs share one. */
import { dataDepthMax } from "../data-depth.ts";
import { isNumeric } from "../numeric.ts";
import type { ExactNumber } from "../numeric.ts";
import { isMap } from "./data-map.ts";
import type { DataMap } from "./data-map.ts";
import { LosslessNumber } from "./lossless.ts";
import { inputError } from "./run-history-error.ts";

/**
 * Copies a value in depth. Numbers can have any of their forms, bytes stay bytes, and what has a `toJSON` is that. A
 * property without a value is left out. `place`: where the value is, for an error.
 */
export function copyJson<Value>(value: Value, place: string): Value {
  return copy(value, place, dataDepthMax) as Value;
}

function copy(value: unknown, place: string, levels: number): unknown {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (isNumeric(value)) return copyNumber(value, place);
  if (value instanceof Uint8Array) return Uint8Array.from(value);
  if (levels === 0) throw notJson(place, `nested deeper than ${dataDepthMax} objects and arrays`);
  if (Array.isArray(value)) return Array.from(value, (each, at) => copy(each, `${place}[${at}]`, levels - 1));
  if (typeof value !== "object") throw notJson(place, typeof value);
  if ("toJSON" in value && typeof value.toJSON === "function") return copy(value.toJSON(), place, levels - 1);
  if (!isMap(value)) throw notJson(place, "of another class");
  return copyMap(value, place, levels - 1);
}

function copyMap(map: DataMap, place: string, levels: number): DataMap {
  const present = Object.entries(map).filter(([, each]) => each !== undefined);
  // `fromEntries` creates own properties, even for the name `__proto__`.
  return Object.fromEntries(present.map(([key, each]) => [key, copy(each, `${place}.${key}`, levels)]));
}

/** A `LosslessNumber` can be changed, and JSON of JavaScript has no `-0`. */
function copyNumber(value: number | bigint | ExactNumber, place: string): number | bigint | LosslessNumber {
  if (typeof value === "number" && !Number.isFinite(value)) throw notJson(place, String(value));
  if (Object.is(value, -0)) return new LosslessNumber("-0");
  return typeof value === "object" ? new LosslessNumber(String(value)) : value;
}

const notJson = (field: string, value: string) => inputError("use the data", { field, value, allowed: "a JSON value" });
