/** What the owner of a store can do against another user who has filled it: only the creator deletes an entry. */
import type { ClearInput, ClearOutput } from "../../shared/roles.ts";
import { isStoreId } from "../../shared/shared-scope.ts";
import { quoted } from "../../shared/text.ts";
import type { Answer } from "../kit/serve-tool.ts";
import { ToolError } from "../kit/tool-error.ts";
import { ownStore } from "./entry-store.ts";
import { placeOf } from "./key-path.ts";

/** Moves all files of one creator to the trash, whether or not they can be read as entries. */
export function clearEntries({ creator }: ClearInput): Answer<ClearOutput> {
  const at = ownStore().check("readwrite");
  if (!isStoreId(creator) || creator === at.id) {
    throw new ToolError(
      "INPUT_INVALID",
      `Cannot clear ${quoted(creator)}: allowed: the id of another user's own store`,
    );
  }
  const files = at.files.filter(({ path }) => placeOf(path, at.id)?.owner === creator);
  for (const file of files) at.trash(file);
  at.saveIndex();
  return { message: `Moved ${files.length} entries to the trash`, data: { trashed: files.length } };
}
