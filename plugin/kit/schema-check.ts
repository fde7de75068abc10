/** Checks inputs with zod's own parser, for schemas of any kind. A plugin that needs it keeps zod's code. */
import type { InputIssue } from "../../shared/envelope.ts";
import { presentValue } from "../../shared/text.ts";
import * as z from "../../shared/zod.ts";
import type { Leniency } from "./meant-value.ts";
import { mendInput } from "./mend-input.ts";
import { fieldName } from "./object-check.ts";
import type { InputCheck } from "./object-check.ts";

export function schemaCheck(schema: z.ZodMiniType, leniency: Leniency): InputCheck<unknown> {
  return (value) => {
    let parsed = z.safeParse(schema, value);
    // Each round leaves out a field, or opens a text: what it holds can have faults of its own.
    while (!parsed.success && mendInput(value, parsed.error.issues, schema, leniency))
      parsed = z.safeParse(schema, value);
    if (parsed.success) return { input: parsed.data };
    return { issues: parsed.error.issues.flatMap((issue) => inputIssues(issue, value)) };
  };
}

interface SchemaIssue {
  readonly code: string;
  readonly path: readonly PropertyKey[];
  /** What the schema allows: the text of its `error`. */
  readonly message: string;
  readonly keys?: readonly string[];
}

function inputIssues(issue: SchemaIssue, input: unknown): InputIssue[] {
  if (issue.code === "unrecognized_keys") {
    return (issue.keys ?? []).map((key) => ({
      field: fieldName(key),
      value: presentValue(ownProperty(issue.path.reduce(ownProperty, input), key)),
      allowed: issue.message,
    }));
  }
  const [field] = issue.path;
  if (field === undefined) return [{ field: "input", value: presentValue(input), allowed: "a JSON object" }];
  return [{ field: String(field), value: presentValue(ownProperty(input, String(field))), allowed: issue.message }];
}

function ownProperty(value: unknown, key: PropertyKey): unknown {
  return Object.getOwnPropertyDescriptor(Object(value), key)?.value;
}
