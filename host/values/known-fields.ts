import { presentValue, quoted } from "../../shared/text.ts";
import { ToolError } from "./tool-error.ts";

/** Throws `INPUT_INVALID` unless options are an object with known fields only. Callers without types can pass anything. */
export function refuseOthers(action: string, options: unknown, known: readonly string[]): void {
  const allowed = known.join(", ");
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw new ToolError(
      "INPUT_INVALID",
      `Cannot ${action}: the options are ${presentValue(options)}, allowed: an object`,
    );
  }
  const other = Object.keys(options).find((name) => !known.includes(name));
  if (other === undefined) return;
  throw new ToolError("INPUT_INVALID", `Cannot ${action}: there is no option ${quoted(other)}, allowed: ${allowed}`);
}
