import { quoted } from "../../shared/text.ts";
import { UsageError } from "../config/usage-error.ts";

/** The number of a version on a command line. `what`: the argument's name. */
export function versionNumber(what: string, text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new UsageError(`${what} is ${quoted(text)}, allowed: a version's number, as "memcell history" shows it`);
}
