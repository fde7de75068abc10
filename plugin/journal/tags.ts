import { trim } from "./white-space.ts";

/** Trims tags and drops empty ones. */
export function normalTags(tags: readonly string[] | null | undefined): string[] {
  return (tags ?? []).map((tag) => trim(tag)).filter((tag) => tag !== "");
}
