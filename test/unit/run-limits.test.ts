/** Limits of run histories in the documents are those of the plugin's code. */
import { expect, test } from "vitest";

import { runLimits } from "../../plugin/run-history/run-limits.ts";
import { dataDepthMax } from "../../shared/run-history/data-depth.ts";
import { textOf } from "../documents/tracked-files.ts";

const inOneLine = (file: string): string => textOf(file).replaceAll(/\s+/g, " ");

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
