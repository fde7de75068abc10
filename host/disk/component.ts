import { ToolError } from "../values/tool-error.ts";

/**
 * One path component: not empty, only ASCII, no separator of any system, no NUL. A slash at the end would disable the
 * refusal of links; an empty name would be the folder itself.
 */
const component = /^[A-Za-z0-9._@%~-]{1,255}$/;

/** The last check before the disk, for names that the grammars above it should have refused. */
export function checkComponent(name: string): string {
  if (component.test(name) && name !== "." && name !== "..") return name;
  throw new ToolError("CAPABILITY_DENIED", "Cannot use a name that is not one component of a path");
}
