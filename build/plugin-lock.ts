/**
 * `plugins.lock.json`: which files the committed sources make. `npm run build` writes it, `npm run build -- --locked`
 * compares with it, and the host's default policy takes its hashes from it.
 */
import * as z from "../shared/zod.ts";

const lockedPlugin = z.strictObject({
  version: z.string(),
  /** Of the file, in hex. */
  sha256: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
  bytes: z.int(),
});

const lockSchema = z.strictObject({ version: z.literal(1), plugins: z.record(z.string(), lockedPlugin) });

export type LockedPlugin = z.infer<typeof lockedPlugin>;

/** Plugins by name. */
export type LockedPlugins = Readonly<Record<string, LockedPlugin>>;

/** The same plugins always give the same text. */
export function lockText(plugins: LockedPlugins): string {
  const sorted = Object.entries(plugins).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const facts = sorted.map(([name, { version, sha256, bytes }]) => [name, { version, sha256, bytes }]);
  return `${JSON.stringify({ version: 1, plugins: Object.fromEntries(facts) }, null, 2)}\n`;
}

export function parseLock(text: string): LockedPlugins {
  const parsed = z.safeParse(lockSchema, parseJson(text));
  if (parsed.success) return parsed.data.plugins;
  throw new Error('Cannot read build/plugins.lock.json: it has not its form; "npm run build" writes it anew', {
    cause: parsed.error,
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Where the built plugins are not the locked ones: a sentence for each, with both hashes. */
export function lockDifferences(built: LockedPlugins, locked: LockedPlugins): string[] {
  const names = [...new Set([...Object.keys(built), ...Object.keys(locked)])].toSorted();
  return names.flatMap((name) => {
    const [is, should] = [built[name], locked[name]].map((each) => each && describe(each));
    if (is === should) return [];
    return `Plugin "${name}" is not the locked one: built ${is ?? "none"}, locked ${should ?? "none"}`;
  });
}

function describe({ version, sha256, bytes }: LockedPlugin): string {
  return `SHA-256 ${sha256} (version ${version}, ${bytes} bytes)`;
}
