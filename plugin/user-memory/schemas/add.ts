/** The input of `AddEntry`. */
import * as z from "../../../shared/zod.ts";
import { bodyField, nameField } from "./fields.ts";

export const addInput = z.strictObject(
  { text: bodyField, name: z.optional(nameField) },
  { error: "no other fields than text and name" },
);
