/**
 * The form in which this family writes front matter, read and written without the YAML library: that takes two
 * milliseconds of a call in the guest's engine, and nearly all files are as we left them.
 *
 * Strict: five lines in our order, each value a plain or a single-quoted scalar of ordinary characters. Whatever differs
 * in a byte, or could, is `null` here and the library's. What is not `null` is exactly what the library would have said:
 * `test/fuzz/canonical-form.test.ts` compares the two.
 */

/** The five values as the file names them, and what follows the closing fence. */
export interface CanonicalFile {
  readonly name: string;
  readonly description: string;
  readonly type: string;
  readonly created: string;
  readonly updated: string;
  readonly body: string;
}

const head =
  /^---\nname: ([^\n]+)\ndescription: ([^\n]+)\ntype: ([a-z]+)\ncreated: '([0-9TZ:.-]+)'\nupdated: '([0-9TZ:.-]+)'\n---\n/;

export function readCanonicalFile(file: string): CanonicalFile | null {
  const found = head.exec(file);
  if (!found) return null;
  const [whole, nameScalar = "", descriptionScalar = "", type = "", created = "", updated = ""] = found;
  const name = readScalar(nameScalar);
  const description = readScalar(descriptionScalar);
  if (name === null || description === null) return null;
  return { name, description, type, created, updated, body: file.slice(whole.length) };
}

/** Lines of `key: value`, or `null`. */
export function formatCanonicalLines(fields: readonly (readonly [key: string, value: string])[]): string | null {
  let lines = "";
  for (const [key, value] of fields) {
    const scalar = formatScalar(value);
    if (scalar === null) return null;
    lines += `${key}: ${scalar}\n`;
  }
  return lines;
}

function readScalar(scalar: string): string | null {
  if (!isOrdinary(scalar)) return null;
  if (isPlain(scalar)) return scalar;
  return singleQuoted.test(scalar) ? scalar.slice(1, -1).replaceAll("''", "'") : null;
}

function formatScalar(text: string): string | null {
  if (timestamp.test(text)) return `'${text}'`;
  if (!isOrdinary(text) || text.trim() === "") return null;
  if (!isPlain(text)) return `'${text.replaceAll("'", "''")}'`;
  return mayBeNoString.test(text) ? null : text;
}

const singleQuoted = /^'(?:[^']|'')*'$/;

/** Always quoted, as some YAML reader would take it for a date. */
const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Everything that some YAML reader could take for a number, a date, a boolean, null, a merge or a default value. */
const mayBeNoString = /^(?:[-+.\d][-+.:_ \da-fionxtz]*|[~<=].*|y|n|yes|no|on|off|true|false|null)$/i;

/** What YAML escapes, forbids or folds: controls, no-break space, line separators, byte order mark, non-characters. */
const unusual = /[^ -~\u00a1-\u2027\u202a-\ufefe\uff00-\ufffd]/;

const isOrdinary = (text: string): boolean => !unusual.test(text) && text.isWellFormed();

/** Begins a scalar with another meaning, in any place or when a space or nothing follows. */
const indicator = /^(?:[ ,[\]{}#&*!|>'"%@`]|[-?:](?: |$))/;

/** Whether a line of ordinary characters can stand without quotes. */
function isPlain(text: string): boolean {
  if (indicator.test(text)) return false;
  return !text.includes(": ") && !text.includes(" #") && !text.endsWith(":") && !text.endsWith(" ");
}
