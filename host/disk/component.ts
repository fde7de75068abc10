import { ToolError } from "../values/tool-error.ts";

/**
 * One component of a path: no separator of any system, no NUL, neither `.` nor `..`, not empty, nothing outside ASCII.
 * A slash at the end would switch off the refusal of links, an empty name is the folder itself.
 */
const component = /^[A-Za-z0-9._@%~-]{1,255}$/;

/** The last guard before the disk. What it stops has slipped through the grammars above it. */
export function checkComponent(name: string): string {
  if (component.test(name) && name !== "." && name !== "..") return name;
  throw new ToolError("CAPABILITY_DENIED", "Cannot use a name that is not one component of a path");
}
