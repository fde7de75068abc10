import { ToolError } from "../values/tool-error.ts";

/** A tool's input as the JSON text that enters the guest. What it says is the guest's to judge. */
export function encodeInput(toolName: string, input: unknown, bytesMax: number): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(input);
  } catch (error) {
    throw wrongInput(toolName, "not serialisable", "a JSON object", error);
  }
  if (text === undefined)
    throw wrongInput(toolName, input === undefined ? "missing" : `a ${typeof input}`, "a JSON object");
  const bytes = Buffer.byteLength(text);
  if (bytes > bytesMax) {
    throw wrongInput(toolName, `${bytes} bytes of JSON`, `at most ${bytesMax} bytes`);
  }
  return text;
}

/** `INPUT_INVALID` for the input as a whole. */
export function wrongInput(toolName: string, value: string, allowed: string, cause?: unknown): ToolError {
  const message = `Cannot call ${toolName}: input is ${value}, allowed: ${allowed}`;
  return new ToolError("INPUT_INVALID", message, { cause, issues: [{ field: "input", value, allowed }] });
}
