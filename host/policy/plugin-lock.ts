import * as z from "../../shared/zod.ts";
import { byPluginName, sha256Schema, versionSchema } from "./policy-schema.ts";

/** The hashes of plugins, as a build has made them. */
export const pluginLockSchema = z.strictObject(
  {
    version: versionSchema,
    plugins: byPluginName(
      z.strictObject(
        {
          version: z.string("a version").check(z.regex(/^\d+\.\d+\.\d+$/, "a version such as 1.2.3")),
          sha256: sha256Schema,
          bytes: z.int("a whole number").check(z.minimum(1, "a whole number from 1")),
        },
        "an object with version, sha256, bytes",
      ),
    ),
  },
  "an object with version, plugins",
);

export type PluginLock = z.infer<typeof pluginLockSchema>;
