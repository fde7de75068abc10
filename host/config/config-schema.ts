/** The schema of the whole config file. `config.schema.json` beside this file is generated from it, for editors. */
import * as z from "../../shared/zod.ts";
import { settingAt, settingPaths } from "./settings.ts";

interface Group {
  [name: string]: Group | z.ZodMiniType;
}

/** The schema's messages say what is allowed. The key `$schema` is for editors. */
export function fileSchema(): z.ZodMiniType {
  const root: Group = { $schema: z.optional(z.string("a text")) };
  for (const path of settingPaths) {
    const { schema, meaning, default: preset, unset } = settingAt(path);
    const description = `${sentence(meaning)}${unset === undefined ? "" : ` Without it: ${unset}.`}`;
    const names = path.split(".");
    const leaf = names.pop() ?? path;
    const described = schema().check(z.meta({ description, ...(preset !== null && { default: preset }) }));
    groupAt(root, names)[leaf] = z.optional(described);
  }
  return objectOf(root);
}

/** Draft 2020-12. */
export function configSchema(): Readonly<Record<string, unknown>> {
  const { "~standard": _, ...schema } = z.toJSONSchema(fileSchema(), { io: "input", target: "draft-2020-12" });
  return { title: "A memcell configuration", ...schema };
}

function groupAt(root: Group, names: readonly string[]): Group {
  return names.reduce<Group>((group, name) => (group[name] ??= {}) as Group, root);
}

function objectOf(group: Group): z.ZodMiniType {
  const entries = Object.entries(group).map(([name, each]) => [
    name,
    "_zod" in each ? each : z.optional(objectOf(each)),
  ]);
  return z.strictObject(Object.fromEntries(entries) as Record<string, z.ZodMiniType>, "an object");
}

function sentence(clause: string): string {
  return `${clause.slice(0, 1).toUpperCase()}${clause.slice(1)}.`;
}
