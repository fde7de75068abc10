/** Refuses options that nobody would read. Callers without types can pass anything. */
import { unknownField } from "../../shared/known-fields.ts";
import type { FieldsOf } from "../../shared/known-fields.ts";
import { presentValue } from "../../shared/text.ts";
import { ToolError } from "./tool-error.ts";

/** Throws `INPUT_INVALID` unless options are an object with known fields only. */
export function refuseOthers<Options extends object>(action: string, options: Options, known: FieldsOf<Options>): void {
  const fault = optionsFault(options, known);
  if (fault !== null) throw new ToolError("INPUT_INVALID", `Cannot ${action}: ${fault}`);
}

/** Throws a `TypeError` unless options are an object with known fields only. `owner`: whose options they are. */
export function checkFields<Options extends object>(owner: string, options: Options, known: FieldsOf<Options>): void {
  const fault = optionsFault(options, known);
  if (fault !== null) throw new TypeError(`${owner}: ${fault}`);
}

/** What is wrong with options, as a clause: that they are none, or have a field that nobody reads; `null` if nothing is. */
export function optionsFault(options: unknown, known: Readonly<Record<string, true>>): string | null {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    return `the options are ${presentValue(options)}; expected an object`;
  }
  const other = unknownField(options, known);
  return other === null ? null : `unknown option ${other.name}; did you mean ${other.nearest}?`;
}
