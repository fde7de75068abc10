import { isNumeric } from "./numeric.ts";

/** Objects and arrays in each other in an event's data: as in a tool's answer. Readers use more stack than writers. */
export const dataDepthMax = 64;

/** Whether a JSON value has more objects and arrays in each other than an event's data can have. */
export function isTooDeep(value: unknown, levels: number = dataDepthMax): boolean {
  if (typeof value !== "object" || value === null || isNumeric(value)) return false;
  return levels === 0 || Object.values(value).some((each) => isTooDeep(each, levels - 1));
}
