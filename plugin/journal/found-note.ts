import { counted } from "../../shared/text.ts";

/** The message of a search. */
export function foundNote(count: number, leftOut: number): string {
  const found = count === 0 ? "No block found" : `${counted(count, "block")} found`;
  if (leftOut === 0) return found;
  return `${found}; ${leftOut} more left out for lack of room: use a longer query, tags or memory_read`;
}
