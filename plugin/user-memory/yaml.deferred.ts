/**
 * The YAML library behind plain functions. Sole importer of gray-matter and js-yaml.
 *
 * Deferred (`build/README.md`): few calls need it, and loaded it would be a third of every instance.
 *
 * Read with YAML's failsafe schema: every scalar is the text that stands there, so nothing turns into a date, a number
 * or a boolean, and tags are an error.
 */
import matter from "gray-matter";
import { dump, FAILSAFE_SCHEMA, load } from "js-yaml";

/** The value of a front matter text. Throws when it is not YAML. */
export function readYaml(text: string): unknown {
  return matter(`---\n${text}\n---\n`, { language: "yaml", engines: { yaml: parseYaml } }).data;
}

function parseYaml(text: string): object {
  return load(text, { schema: FAILSAFE_SCHEMA }) as object;
}

/** Fields as YAML lines, quoted so that every YAML reader gets the same strings back. */
export function writeYaml(fields: object): string {
  return dump(fields, { lineWidth: -1 });
}
