/** Limits in host/README.md and plugin/README.md are those of the code: the ones that no other test compares. */
import { expect, test } from "vitest";

import { transferLimits } from "../../host/archive/transfer-limits.ts";
import { runLimits } from "../../plugin/run-history/run-limits.ts";
import { dataDepthMax } from "../../shared/run-history/data-depth.ts";
import { tableBelow } from "./markdown-table.ts";
import { textOf } from "./tracked-files.ts";

const inOneLine = (file: string): string => textOf(file).replaceAll(/\s+/g, " ");

const mib = (bytes: number): string => `${bytes / 1024 ** 2} MiB`;

test("the limits of an export and an import", () => {
  const rows = new Map(tableBelow(textOf("host/README.md"), "Limits").map(([what = "", value = ""]) => [what, value]));
  const { filesMax, exportBytesMax, zipBytesMax } = transferLimits;
  expect(rows.get("an export or an import: files, bytes; a zip file that is imported")).toBe(
    `${filesMax.toLocaleString("en")}, ${mib(exportBytesMax)}; ${mib(zipBytesMax)}`,
  );
  expect(exportBytesMax + filesMax * 652).toBeLessThan(zipBytesMax);
});

test("the limits of run histories", () => {
  const { eventsMax, eventBytesMax, filesMax, idBytesMax } = runLimits;
  const [events, files] = [eventsMax, filesMax].map((count) => count.toLocaleString("en"));
  const kib = `${eventBytesMax / 1024} KiB`;
  expect(inOneLine("plugin/README.md")).toContain(
    `limits: ${events} events per append, ${kib} and ${dataDepthMax} nested levels per event, and ${files} files of all`,
  );
  expect(inOneLine("shared/run-history/README.md")).toContain(
    `An id has 1 to ${idBytesMax} UTF-8 bytes. An event has at most ${kib} and ${dataDepthMax} nested objects`,
  );
});
