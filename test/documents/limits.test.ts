/** Limits in host/README.md are those of the code: the ones that no other test compares. */
import { expect, test } from "vitest";

import { transferLimits } from "../stage/archive.ts";
import { tableBelow } from "./markdown-table.ts";
import { textOf } from "./tracked-files.ts";

const mib = (bytes: number): string => `${bytes / 1024 ** 2} MiB`;

test("the limits of an export and an import", () => {
  const rows = new Map(tableBelow(textOf("host/README.md"), "Limits").map(([what = "", value = ""]) => [what, value]));
  const { filesMax, exportBytesMax, originsBytesMax, zipBytesMax } = transferLimits;
  expect(rows.get("an export or an import: files, bytes; a zip file that is imported")).toBe(
    `${filesMax.toLocaleString("en")}, ${mib(exportBytesMax)}; ${mib(zipBytesMax)}`,
  );
  expect(exportBytesMax + filesMax * 652 + originsBytesMax).toBeLessThan(zipBytesMax);
});
