/**
 * Reads and writes front matter in this family's own form, without the YAML library. The library takes two milliseconds
 * of a call in the guest's engine, and nearly all files are still in this form.
 *
 * The form is strict: five lines in a fixed order, the last two of which can be missing, each value a plain or single-quoted scalar of ordinary characters.
 * For everything else, the functions return `null`, and the caller uses the library. A result other than `null` is
 * exactly what the library would return: `test/fuzz/canonical-form.test.ts` compares the two.
 */

/** The five values of the front matter, and the text after the closing fence. */
export interface CanonicalFile {
  readonly name: string;
  readonly description: string;
  readonly type: string;
  /** `null` if the entry comes from where nobody knew. */
  readonly created: string | null;
  readonly updated: string | null;
  readonly body: string;
}

const head =
  /^---\nname: ([^\n]+)\ndescription: ([^\n]+)\ntype: ([a-z]+)(?:\ncreated: '([0-9TZ:.-]+)')?(?:\nupdated: '([0-9TZ:.-]+)')?\n---\n/;

export function readCanonicalFile(file: string): CanonicalFile | null {
  // The guest's engine would look for the beginning in the whole file.
  if (file.slice(0, 4) !== "---\n") return null;
  const found = head.exec(file);
  if (!found) return null;
  const [whole, nameScalar = "", descriptionScalar = "", type = "", created = null, updated = null] = found;
  const name = readScalar(nameScalar);
  const description = readScalar(descriptionScalar);
  if (name === null || description === null) return null;
  return { name, description, type, created, updated, body: file.slice(whole.length) };
}

/** Whether a file begins with these two values as tools write them. It need not be in this form otherwise. */
export function beginsAs(file: string, name: string, description: string): boolean {
  const lines = formatCanonicalLines([
    ["name", name],
    ["description", description],
  ]);
  return lines !== null && file.startsWith(`---\n${lines}type: `);
}

/** Returns lines of `key: value`, or `null` if a value needs the library. */
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
  if (simple.test(scalar)) return scalar;
  if (!isOrdinary(scalar)) return null;
  if (isPlain(scalar)) return scalar;
  return singleQuoted.test(scalar) ? scalar.slice(1, -1).replaceAll("''", "'") : null;
}

/** Also of characters that tools escape. `null` for what YAML could read as something else than this text. */
export function readPlainScalar(scalar: string): string | null {
  if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(scalar)) return null;
  if (singleQuoted.test(scalar)) return scalar.slice(1, -1).replaceAll("''", "'");
  return isPlain(scalar) && !mayBeNoString.test(scalar) ? scalar : null;
}

function formatScalar(text: string): string | null {
  if (simple.test(text)) return mayBeWord(text) ? null : text;
  if (isTimestamp(text)) return `'${text}'`;
  if (!isOrdinary(text) || text.trim() === "") return null;
  if (!isPlain(text)) return `'${text.replaceAll("'", "''")}'`;
  return mayBeNoString.test(text) ? null : text;
}

/** Most scalars: ordinary and plain. One test takes the guest's engine a quarter of the time of all the others. */
const simple = /^[A-Za-z][\w ,.()-]*[\w.)]$/;

const mayBeWord = (text: string): boolean => text.length <= wordCharsMax && mayBeNoString.test(text);

/** The longest word that some YAML reader could read as something else than a text: "false". */
const wordCharsMax = 5;

const singleQuoted = /^'(?:[^']|'')*'$/;

/** Whether a text is a time as tools write it. Always quoted, because some YAML readers would read it as a date. */
export const isTimestamp = (text: string | null): boolean => text !== null && timestamp.test(text);

export const timestamp: RegExp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Everything that some YAML reader could read as a number, a date, a boolean, null, a merge or a default value. */
const mayBeNoString = /^(?:[-+.\d][-+.:_ \da-fionxtz]*|[~<=].*|y|n|yes|no|on|off|true|false|null)$/i;

/**
 * Characters that YAML escapes, forbids or folds: controls, no-break space, line separators, byte order mark,
 * non-characters.
 */
const unusual = /[^ -~\u00a1-\u2027\u202a-\ufefe\uff00-\ufffd]/;

const isOrdinary = (text: string): boolean => !unusual.test(text) && text.isWellFormed();

/** What has a special meaning at the start of a scalar: some characters always, others only before a space or alone. */
const indicator = /^(?:[ ,[\]{}#&*!|>'"%@`]|[-?:](?: |$))/;

/** Whether a line of ordinary characters needs no quotes. */
function isPlain(text: string): boolean {
  if (indicator.test(text)) return false;
  return !text.includes(": ") && !text.includes(" #") && !text.endsWith(":") && !text.endsWith(" ");
}
