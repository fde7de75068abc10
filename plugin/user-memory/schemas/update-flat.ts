import * as z from "../../../shared/zod.ts";
import { bodyField, descriptionField, ifUpdatedField, nameField, typeField } from "./fields.ts";

/**
 * The schema for function-calling APIs: the same fields in one flat object, because most APIs refuse a schema whose top
 * level is a union.
 */
export const updateInputFlat = z.strictObject({
  action: z.enum(["upsert", "delete"]).check(z.meta({ description: "Operation to perform" })),
  name: nameField,
  type: z.optional(typeField).check(z.meta({ description: `Required for upsert. ${describedBy(typeField)}` })),
  description: z
    .optional(descriptionField)
    .check(z.meta({ description: `Required for upsert. ${describedBy(descriptionField)}` })),
  body: z.optional(bodyField).check(z.meta({ description: `Required for upsert. ${describedBy(bodyField)}` })),
  ifUpdated: z.optional(ifUpdatedField),
});

function describedBy(schema: z.ZodMiniType): string {
  return z.toJSONSchema(schema).description ?? "";
}
