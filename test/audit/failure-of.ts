import { ToolError } from "../stage/store.ts";

/** Returns the coded failure with which `work` ends. Rethrows any other error. */
export async function failureOf(work: () => unknown): Promise<{ code: string; message: string }> {
  try {
    await work();
  } catch (error) {
    if (error instanceof ToolError) return { code: error.code, message: error.message };
    throw error;
  }
  return { code: "ok", message: "" };
}
