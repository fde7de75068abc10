import type { CopySettings, StoreCopy } from "../store/copying.ts";
import { openCopy } from "../store/open-copy.ts";
import type { CopyPlace } from "../store/open-copy.ts";

export type { CopyPlace } from "../store/open-copy.ts";

export interface OpenCopies extends AsyncDisposable {
  readonly from: StoreCopy;
  readonly to: StoreCopy;
}

/** Opens both places. Throws a `ToolError` if one of them is not fit, or if there is nothing to read. */
export async function openCopies(from: CopyPlace, to: CopyPlace, settings: CopySettings): Promise<OpenCopies> {
  const source = await openCopy(from, settings, true);
  try {
    const target = await openCopy(to, settings, false);
    return {
      from: source,
      to: target,
      [Symbol.asyncDispose]: async () => {
        await target[Symbol.asyncDispose]();
        await source[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    await source[Symbol.asyncDispose]();
    throw error;
  }
}
