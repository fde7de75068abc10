import type { Right } from "../../shared/abi.ts";
import type { PluginError } from "../../shared/manifest.ts";

/**
 * JSON Schema, draft 2020-12, of an object. SDKs of function-calling APIs and of MCP take it as it is: its properties
 * can be written, as theirs can.
 */
export interface ObjectSchema {
  type: "object";
  properties?: Record<string, { [keyword: string]: JsonValue }>;
  required?: string[];
  [keyword: string]: unknown;
}

type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };

/** A tool's description for a function-calling API. */
export interface ToolDescription {
  readonly name: string;
  readonly description: string;
  /** The tools of the package have no union at the top level, which most APIs would refuse. */
  readonly inputSchema: ObjectSchema;
  /** JSON Schema of a successful result's `data`. */
  readonly outputSchema: Readonly<Record<string, unknown>>;
  /** The rights that the tool is granted. Without `write` and `trash` it changes nothing. */
  readonly rights: readonly Right[];
  /**
   * The plugin's own error codes, with their meanings and the codes of the error table that they are cases of. Missing
   * if the plugin declares none. A failure with such a code has `of`.
   */
  readonly errors?: readonly PluginError[];
}
