/** What a bounded result says of itself. Its keys are those of goa-ai's Go struct, which has no JSON names. */
import { DataFields } from "../data-map.ts";
import type { DataMap, Forms } from "../data-map.ts";

export interface Bounds {
  /** How many items the result has. */
  readonly returned: number;
  /** How many there are. Default: unknown. */
  readonly total?: number;
  /** Whether items are left out. */
  readonly truncated: boolean;
  /** Where the next page begins. Default: none. */
  readonly nextCursor?: string;
  /** How to ask for less. Default: none. */
  readonly refinementHint?: string;
}

export function readBounds(data: DataMap, forms: Forms): Bounds {
  const fields = new DataFields("tool_result", data, forms, "bounds.");
  const [nextCursor, refinementHint] = [fields.text("NextCursor"), fields.text("RefinementHint")];
  return {
    returned: fields.int("Returned"),
    ...(fields.value("Total") !== undefined && { total: fields.int("Total") }),
    truncated: fields.flag("Truncated"),
    ...(nextCursor !== "" && { nextCursor }),
    ...(refinementHint !== "" && { refinementHint }),
  };
}

export function writeBounds({ returned, total, truncated, nextCursor, refinementHint }: Bounds): DataMap {
  return {
    Returned: returned,
    Total: total ?? null,
    Truncated: truncated,
    NextCursor: nextCursor ?? null,
    RefinementHint: refinementHint ?? "",
  };
}
