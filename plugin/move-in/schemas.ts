/** The input of the one tool: that of the role `convert`. */
import { roleLimits } from "../../shared/limits.ts";
import type { ConvertInput } from "../../shared/roles.ts";
import * as z from "../../shared/zod.ts";
import { formats } from "./formats.ts";

const listAllowed = "a list of texts";
const texts = z.optional(z.array(z.string({ error: listAllowed }), { error: listAllowed }));
const pathsAllowed = `${listAllowed}, at most ${roleLimits.toldMax}`;
const fileAllowed = "an object with path, text and perhaps more";

const file = z.strictObject(
  {
    path: z.string({ error: "a text" }),
    text: z.string({ error: "a text" }),
    more: z.optional(z.boolean({ error: "true or false" })),
  },
  { error: fileAllowed },
);

const presentAllowed = "a list of files, each with path and content";
const presentFile = z.strictObject(
  { path: z.string({ error: "a text" }), content: z.string({ error: "a text" }) },
  { error: presentAllowed },
);

export const convertInput: z.ZodMiniType<ConvertInput> = z.strictObject(
  {
    paths: z.optional(
      z
        .array(z.string({ error: listAllowed }), { error: listAllowed })
        .check(z.maxLength(roleLimits.toldMax, { error: pathsAllowed })),
    ),
    files: z.optional(z.array(file, { error: "a list of files" })),
    format: z.optional(z.string({ error: `one of ${formats.join(", ")}` })),
    taken: texts,
    present: z.optional(z.array(presentFile, { error: presentAllowed })),
    carry: z.optional(z.string({ error: "the carry of the answer before" })),
  },
  { error: "no other fields than paths, files, format, taken, present and carry" },
);
