import { isNumeric } from "./numeric.ts";

/** Objects and arrays in each other in an event's data: as in a tool's answer. Readers use more stack than writers. */
export const dataDepthMax = 64;

/** The same in an entry's value: an answer has up to 7 levels around it. */
export const valueDepthMax = 56;

/** Whether a JSON value has more objects and arrays in each other. */
export function isTooDeep(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null || isNumeric(value)) return false;
  return levels === 0 || Object.values(value).some((each) => isTooDeep(each, levels - 1));
}
