import { ToolError } from "../tool-error.ts";

/** For a file that a person has to look at. `shown`: its path for the caller. */
export const unreadable = (action: string, shown: string, reason: string): ToolError =>
  new ToolError("ENTRY_UNREADABLE", `Cannot ${action} ${shown}: a file is there, but ${reason}`);
