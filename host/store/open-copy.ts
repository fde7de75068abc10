import type { CopySettings, StoreCopy } from "./copying.ts";
import { openFileCopy } from "./files/copy/file-copy.ts";
import { openDatabaseCopy } from "./postgres/database-copy.ts";

/** A data folder, or a database by its address. */
export type CopyPlace = { readonly dir: string } | { readonly url: string };

/** Throws `ToolError` if the place is not fit, or if it is to be read and is not there. */
export async function openCopy(place: CopyPlace, settings: CopySettings, isSource: boolean): Promise<StoreCopy> {
  return "url" in place ? await openDatabaseCopy(place.url, settings) : openFileCopy(place.dir, settings, isSource);
}
