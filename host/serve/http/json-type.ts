const token = "[\\w!#$%&'*+.^`|~-]+";
const parameter = `(${token})=(${token}|"(?:[^"\\\\]|\\\\.)*")`;
const form = new RegExp(`^application/json[\\t ]*(?:;[\\t ]*(?:${parameter}[\\t ]*)?)*$`, "i");

/** JSON is in UTF-8, which ASCII is a part of. */
const charsets = new Set(["utf-8", "utf8", "us-ascii"]);

/**
 * Whether a `Content-Type` is that of JSON, as RFC 9110 writes parameters: in any case, with white space around
 * semicolons, and with values in quotation marks. `charset` can be there once; other parameters mean nothing for JSON.
 */
export function isJsonType(contentType: string): boolean {
  if (!form.test(contentType)) return false;
  const all = [...contentType.matchAll(new RegExp(parameter, "g"))];
  const named = all.filter(([, name = ""]) => name.toLowerCase() === "charset").map(([, , value = ""]) => value);
  const [charset = "utf-8"] = named;
  return named.length < 2 && charsets.has(charset.replace(/^"(.*)"$/, "$1").toLowerCase());
}
