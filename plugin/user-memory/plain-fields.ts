/**
 * The simple fields of a front matter, without the YAML library: for calls that have given it as much as they may. A
 * value on the line of its key, plain or in single quotes, is what YAML says. Everything else counts as missing.
 */
import { readPlainScalar } from "./canonical-form.ts";

const field = /^(description|type|created|updated): +(\S[^\n]*?)[ \t\r]*$/gm;

export function plainFields(frontMatter: string): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (const [, key = "", scalar = ""] of frontMatter.matchAll(field)) {
    const value = readPlainScalar(scalar);
    if (value !== null) fields.set(key, value);
  }
  return fields;
}
