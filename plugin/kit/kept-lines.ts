/** Keeps what people have added to front matter when a tool writes it again. */
import { formatFields, parseFields } from "./front-matter.ts";

/**
 * Returns the lines of foreign keys unchanged, comments included: those of `replaced` that are not in `ownKeys`. It
 * picks them line by line and parses the result. If that has other values than the original (keys in braces, for
 * example), it formats the keys again instead. `own`: the lines that they follow.
 */
export function keptLines(own: string, replaced: string, ownKeys: readonly string[]): string {
  const withoutOwnKeys = (fields: ReadonlyMap<string, unknown>): Map<string, unknown> =>
    new Map([...fields].filter(([key]) => !ownKeys.includes(key)));
  const foreign = withoutOwnKeys(parseFields(replaced) ?? new Map());
  const kept = linesWithoutOwnKeys(replaced, ownKeys);
  const written = parseFields(own + kept);
  if (written !== null && sameMeaning(withoutOwnKeys(written), foreign)) return kept;
  return foreign.size === 0 ? "" : formatFields(foreign);
}

/**
 * Compares YAML text, in which a repeated value is an alias. Comparing values would expand nested aliases without
 * limit.
 */
function sameMeaning(a: ReadonlyMap<string, unknown>, b: ReadonlyMap<string, unknown>): boolean {
  return a.size === b.size && formatFields(a) === formatFields(b);
}

const startsKey = /^[^\s#-]/;

function linesWithoutOwnKeys(text: string, ownKeys: readonly string[]): string {
  const startsOwnKey = new RegExp(`^(["']?)(?:${ownKeys.join("|")})\\1[ \\t]*:`);
  let isOwn = false;
  const kept = text.split("\n").filter((line) => {
    if (startsKey.test(line)) isOwn = startsOwnKey.test(line);
    return !isOwn || line.startsWith("#");
  });
  const lines = kept.join("\n");
  return lines === "" || lines.endsWith("\n") ? lines : `${lines}\n`;
}
