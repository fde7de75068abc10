/** Numbers in the table of limits in host/README.md are those of the code: the ones that no other test compares. */
import { expect, test } from "vitest";

import { transferLimits } from "../../host/archive/transfer-limits.ts";
import { numbersIn, sizesIn, tableBelow } from "./markdown-table.ts";
import { textOf } from "./tracked-files.ts";

test("a row has the limits of an export and an import", () => {
  const { filesMax, exportBytesMax, zipBytesMax } = transferLimits;
  const rows = tableBelow(textOf("host/README.md"), "Limits").filter(([, value = ""]) => {
    const sizes = sizesIn(value);
    return numbersIn(value).includes(filesMax) && sizes.includes(exportBytesMax) && sizes.includes(zipBytesMax);
  });
  expect(rows).toHaveLength(1);
  expect(exportBytesMax + filesMax * 652).toBeLessThan(zipBytesMax);
});
