/** Names of files in what is configured. */
import { basename, delimiter, dirname, isAbsolute, join } from "node:path";

/** From the folder of the file that names it. What ends in a separator keeps it: it names no file. */
export function placeBeside(file: string, name: string): string {
  return isAbsolute(name) ? name : join(dirname(file), name);
}

/** As messages show it: without the folders it lies in. */
export function shownName(file: string): string {
  return basename(file);
}

/** The names in a variable, separated as the folders of `PATH` are: a colon, and a semicolon on Windows. */
export function listedFiles(text: string): string[] {
  return text.split(delimiter);
}
