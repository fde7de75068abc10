import { trim } from "./white-space.ts";

/** Tags as a block has them: without white space around them, and no empty one. */
export function normalTags(tags: readonly string[] | null | undefined): string[] {
  return (tags ?? []).map((tag) => trim(tag)).filter((tag) => tag !== "");
}
