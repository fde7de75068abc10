/** What one batch can read and answer. What has no room is for another call, and nothing is left out in silence. */
import type { ListedFile } from "../../../shared/abi.ts";
import { readCostOf } from "../../search/read-budget.ts";
import { entryLimits } from "../store-limits.ts";
import { jsonBytes } from "../value.ts";

export class AnswerRoom {
  #bytesLeft: number = entryLimits.itemBytesMax;
  #costLeft: number = entryLimits.itemReadCostMax;
  #looksLeft: number = entryLimits.itemsSearchedMax;
  #listedLeft: number = entryLimits.itemsListedMax;

  /** Whether one more file can be read. */
  takesRead({ path, bytes }: ListedFile): boolean {
    if (this.#costLeft < 0) return false;
    this.#costLeft -= readCostOf({ path, bytes, changedUs: 0 });
    return true;
  }

  /** Whether an operation can go through a list of files or namespaces. */
  takesList({ length }: readonly unknown[]): boolean {
    if (this.#listedLeft < 0) return false;
    this.#listedLeft -= length;
    return true;
  }

  /**
   * Into how many of some files the engine can look, which makes no text of them; `null` if it could be more in another
   * call.
   */
  takeLooks(count: number): number | null {
    const taken = Math.min(count, entryLimits.itemsSearchedMax);
    if (taken > this.#looksLeft) return null;
    this.#looksLeft -= taken;
    return taken;
  }

  /** Whether a part of the answer fits. */
  takes(part: unknown): boolean {
    const bytes = sizeOf(part);
    if (bytes > this.#bytesLeft) return false;
    this.#bytesLeft -= bytes;
    return true;
  }
}

/** Whether a part fits into an answer that has nothing else. */
export const fitsAlone = (part: unknown): boolean => sizeOf(part) <= entryLimits.itemBytesMax;

/** With the comma behind it. */
const sizeOf = (part: unknown): number => jsonBytes(part) + 1;
