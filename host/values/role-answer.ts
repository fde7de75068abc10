import { roleSchemas } from "../../shared/roles.ts";
import type { Role } from "../../shared/roles.ts";
import { safeParse } from "../../shared/zod.ts";
import type { infer as Infer } from "../../shared/zod.ts";
import { ToolError } from "./tool-error.ts";
import { errorOf } from "./tool-result.ts";
import type { ToolResult } from "./tool-result.ts";

export type RoleInput<Of extends Role> = Infer<(typeof roleSchemas)[Of]["input"]>;
export type RoleOutput<Of extends Role> = Infer<(typeof roleSchemas)[Of]["output"]>;

/** Checks and returns the answer of a tool with a role. Throws the tool's failure, or `OUTPUT_INVALID`. */
export function roleAnswer<Of extends Role>(role: Of, toolName: string, result: ToolResult): RoleOutput<Of> {
  if (!result.ok) throw errorOf(result);
  // Returns the original data: further fields that the role does not define are kept.
  if (safeParse(roleSchemas[role].output, result.data).success) return result.data as RoleOutput<Of>;
  throw new ToolError("OUTPUT_INVALID", `Cannot use the answer of ${toolName}: it is none of the role "${role}"`);
}
