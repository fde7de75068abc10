import { ToolError } from "../../host/values/tool-error.ts";

/** How something has ended; what is no coded failure is thrown on. */
export async function failureOf(work: () => unknown): Promise<{ code: string; message: string }> {
  try {
    await work();
  } catch (error) {
    if (error instanceof ToolError) return { code: error.code, message: error.message };
    throw error;
  }
  return { code: "ok", message: "" };
}
