/**
 * `build/plugins.lock.json`: the plugin files that the committed sources give. The build writes it and compares with
 * it; the host takes pins from it.
 */
import { familyName } from "./manifest.ts";
import { parseStrictJson } from "./strict-json.ts";
import * as z from "./zod.ts";

/** The texts in these schemas say what is allowed; messages show them. */
export const sha256Schema = z
  .string("a SHA-256 in lower-case hex")
  .check(z.regex(/^[0-9a-f]{64}$/, "a SHA-256 in lower-case hex"));

const lockedPlugin = z.strictObject(
  {
    version: z.string("a version").check(z.regex(/^\d+\.\d+\.\d+$/, "a version such as 1.2.3")),
    sha256: sha256Schema,
    bytes: z.int("a whole number").check(z.minimum(1, "a whole number from 1")),
  },
  "an object with version, sha256, bytes",
);

export const lockSchema = z.strictObject(
  {
    version: z.literal(1, "1"),
    plugins: byPluginName(lockedPlugin),
  },
  "an object with version, plugins",
);

/** An object whose keys are valid plugin names. */
export function byPluginName<Entry>(schema: z.ZodMiniType<Entry>): z.ZodMiniType<Record<string, Entry>> {
  return z.record(
    z.string().check(z.regex(familyName)),
    schema,
    `an object with plugins' names (${familyName.source})`,
  );
}

/** The file's object, `plugins`, and a plugin. */
const depthMax = 3;

export type PluginLock = z.infer<typeof lockSchema>;
export type LockedPlugin = z.infer<typeof lockedPlugin>;

/** Plugins by name. */
export type LockedPlugins = Readonly<Record<string, LockedPlugin>>;

/** Returns the file's text, which is always the same for the same plugins. */
export function lockText(plugins: LockedPlugins): string {
  const sorted = Object.entries(plugins).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const facts = sorted.map(([name, { version, sha256, bytes }]) => [name, { version, sha256, bytes }]);
  return `${JSON.stringify({ version: 1, plugins: Object.fromEntries(facts) }, null, 2)}\n`;
}

/** Returns `null` when the text does not have the lock file's form. */
export function parseLock(text: string): LockedPlugins | null {
  const parsed = z.safeParse(lockSchema, parseJson(text));
  return parsed.success ? parsed.data.plugins : null;
}

function parseJson(text: string): unknown {
  try {
    return parseStrictJson(text, depthMax);
  } catch {
    return null;
  }
}

/** Returns a sentence, with both hashes, for each built plugin that differs from the locked one. */
export function lockDifferences(built: LockedPlugins, locked: LockedPlugins): string[] {
  const names = [...new Set([...Object.keys(built), ...Object.keys(locked)])].toSorted();
  return names.flatMap((name) => {
    const [is, should] = [built, locked].map((plugins) => describe(plugins[name]));
    return is === should ? [] : `Plugin "${name}" is not the locked one: built ${is}, locked ${should}`;
  });
}

function describe(plugin: LockedPlugin | undefined): string {
  if (!plugin) return "none";
  return `SHA-256 ${plugin.sha256} (version ${plugin.version}, ${plugin.bytes} bytes)`;
}
