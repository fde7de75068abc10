/** Where a note lies: in a namespace of the agent's own store. The agent says which of its callers it has verified. */
import { quoted } from "../../../shared/text.ts";
import { breaksLine } from "../../kit/plain-line.ts";
import { ToolError } from "../../kit/tool-error.ts";

export interface NotePlace {
  /** `owner`, `shared`, or `caller:` and who called. */
  readonly namespace: string;
  readonly key: string;
}

const namespacePattern = /^(?:owner|shared|caller:[^\s,]{1,300})$/;
const keyPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

export const namespaceAllowed = '"owner", "shared", or "caller:" and 1 to 300 characters without spaces and commas';
export const keyAllowed = "1 to 128 letters, digits, dots, dashes and underscores, the first a letter or digit";

export const isNamespace = (text: string): boolean =>
  namespacePattern.test(text) && !breaksLine.test(text) && text.isWellFormed();

export const isNoteKey = (text: string): boolean => keyPattern.test(text);

interface NamedInput {
  readonly namespace?: string;
  readonly namespaces?: readonly string[] | undefined;
}

/** A command for which the forms of Unicode of a namespace are one. */
export const composed =
  <Input extends NamedInput, Output>(command: (input: Input) => Output) =>
  (input: Input): Output =>
    command({
      ...input,
      ...(input.namespace !== undefined && { namespace: input.namespace.normalize("NFC") }),
      ...(input.namespaces !== undefined && { namespaces: input.namespaces.map((each) => each.normalize("NFC")) }),
    });

/** Throws `INPUT_INVALID`. */
export function checkNamespace(namespace: string): void {
  if (!isNamespace(namespace)) throw unfit("namespace", namespace, namespaceAllowed);
}

/** Throws `INPUT_INVALID`. */
export function checkPlace({ namespace, key }: NotePlace): void {
  checkNamespace(namespace);
  if (!isNoteKey(key)) throw unfit("key", key, keyAllowed);
}

function unfit(field: string, value: string, allowed: string): ToolError {
  const message = `Cannot use the ${field} ${quoted(value)}: allowed: ${allowed}`;
  return new ToolError("INPUT_INVALID", message, [{ field, value: quoted(value), allowed }]);
}
