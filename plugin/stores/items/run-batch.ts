/** The tool `StoreBatch`: operations on items in one call, whose changes happen all or not at all. */
import { counted } from "../../../shared/text.ts";
import type { Answer } from "../../kit/serve-tool.ts";
import { ToolError } from "../../kit/tool-error.ts";
import type { ItemId } from "../item-path.ts";
import { AnswerRoom, fitsAlone } from "./answer-room.ts";
import { ItemStore, shownItem } from "./item-store.ts";
import type { Item } from "./item-store.ts";
import { Namespaces } from "./list-namespaces.ts";
import type { FoundNamespaces } from "./list-namespaces.ts";
import { checkOperations, isChange } from "./operation.ts";
import type { Change, Operation, Read } from "./operation.ts";
import { searchItems } from "./search-items.ts";
import type { FoundItems } from "./search-items.ts";

export interface BatchInput {
  readonly operations: readonly unknown[];
}

type Result =
  | { readonly item: Item | null }
  | { readonly unreadable: string }
  | FoundItems
  | FoundNamespaces
  | { readonly changed: boolean }
  /** The answer has no room for it: to be asked again. */
  | { readonly left: true };

/** All reads see the items as they were before the batch. Of several changes of one item the last one counts. */
export function runBatch({ operations }: BatchInput): Answer<{ readonly results: readonly Result[] }> {
  const checked = checkOperations(operations);
  const store = new ItemStore();
  const read = readerOf(store);
  const results = new Map<Operation, Result>();
  for (const each of checked) if (!isChange(each)) results.set(each, read(each) ?? { left: true });
  const changes = checked.filter(isChange);
  if (changes.length > 0 && [...results.values()].some(isUnfinished)) {
    throw new ToolError(
      "BATCH_TOO_LARGE",
      "Nothing has changed: one answer cannot hold what the batch reads. Read first, then send the changes alone.",
    );
  }
  const last = new Map(changes.map((each) => [store.pathOf(each), each]));
  for (const each of changes) {
    results.set(each, { changed: last.get(store.pathOf(each)) === each && change(store, each) });
  }
  return {
    message: counted(checked.length, "operation"),
    data: { results: checked.map((each) => results.get(each) ?? { left: true }) },
    shows: [...store.shows],
  };
}

/** Returns `null` for what this answer has no room for. */
function readerOf(store: ItemStore): (operation: Read) => Result | null {
  const room = new AnswerRoom();
  const namespaces = new Namespaces(store);
  return (operation) => {
    if (operation.op === "get") return get(store, operation, room);
    return operation.op === "search" ? searchItems(store, operation, room) : namespaces.list(operation, room);
  };
}

function get(store: ItemStore, id: ItemId, room: AnswerRoom): Result | null {
  const found = store.find(id);
  if (found === null) return { item: null };
  if ("unreadable" in found) return { unreadable: found.unreadable };
  const item = shownItem(found);
  if (!fitsAlone(item)) return { unreadable: "it is too large for an answer" };
  return room.takes(item) ? { item } : null;
}

const isUnfinished = (result: Result): boolean => "left" in result || "next" in result;

function change(store: ItemStore, operation: Change): boolean {
  if (operation.op === "delete") return store.remove(operation);
  store.put(operation, operation.value);
  return true;
}
