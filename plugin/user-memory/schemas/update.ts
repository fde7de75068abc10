/** Input and output of `UpdateUserMemory`. */
import * as z from "../../../shared/zod.ts";
import { bodyField, descriptionField, ifUpdatedField, nameField, typeField } from "./fields.ts";

const actionAllowed = 'one of "upsert", "delete"';

const fieldsAllowed = "no other fields than action, name, type, description, body and ifUpdated";

const upsertInput = z.strictObject(
  {
    action: z.literal("upsert"),
    name: nameField,
    type: typeField,
    description: descriptionField,
    body: bodyField,
    ifUpdated: z.optional(ifUpdatedField),
  },
  { error: fieldsAllowed },
);

/** `delete` ignores the fields that only `upsert` needs, because models often send them. */
const deleteInput = z.strictObject(
  {
    action: z.literal("delete"),
    name: nameField,
    type: z.optional(z.unknown()),
    description: z.optional(z.unknown()),
    body: z.optional(z.unknown()),
    ifUpdated: z.optional(ifUpdatedField),
  },
  { error: fieldsAllowed },
);

/** The input as the guest parses it. */
export const updateInput = z.discriminatedUnion("action", [upsertInput, deleteInput], { error: actionAllowed });

export type UpsertInput = z.infer<typeof upsertInput>;
export type DeleteInput = z.infer<typeof deleteInput>;
export type UpdateUserMemoryInput = UpsertInput | Pick<DeleteInput, "action" | "name" | "ifUpdated">;

export const updateOutput = z.strictObject({
  name: z.described(z.string(), "The entry's name"),
  outcome: z.described(z.enum(["created", "replaced", "deleted"]), "What became of the entry"),
  path: z.described(z.string(), "The entry's file in the user's memory folder"),
  trashed: z.described(
    z.nullable(z.string()),
    "The trash path of the file that this call moved there; null if it moved none",
  ),
});

export type UpdateUserMemoryOutput = z.infer<typeof updateOutput>;
