/**
 * Wraps the YAML library. Sole importer of gray-matter and js-yaml.
 *
 * Deferred (`build/README.md`): few calls need it, and it would be a third of every instance.
 *
 * It uses YAML's failsafe schema: every scalar stays text, so nothing becomes a date, a number or a boolean, and tags
 * are errors.
 */
import matter from "gray-matter";
import { dump, FAILSAFE_SCHEMA, load } from "js-yaml";

/** Parses a front matter text. Throws if it is not YAML. */
export function readYaml(text: string): unknown {
  return matter(`---\n${text}\n---\n`, { language: "yaml", engines: { yaml: parseYaml } }).data;
}

function parseYaml(text: string): object {
  return load(text, { schema: FAILSAFE_SCHEMA }) as object;
}

/** Formats fields as YAML lines, quoted so that every YAML reader reads the same strings. */
export function writeYaml(fields: object): string {
  return dump(fields, { lineWidth: -1 });
}
