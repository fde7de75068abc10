/**
 * `npm run bench:holding`: measures how long each operation holds the event loop, and prints it. It takes no turns with
 * other sections: its figures are compared with a bound, and with nothing else.
 *
 * usage: node dist/test/bench/holding/main.js [--quick] [--repetitions N] [--write]
 *
 *   --quick  a hundredth of each bound: shows that everything runs; do not quote it
 *   --repetitions  of what can be repeated (3, or 1 with --quick)
 *   --write  store the results also in test/bench/results/ and in test/bench/README.md
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { temporaryFolder } from "../../support/temporary-folder.ts";
import { fileSystemOf, machine } from "../machine.ts";
import { printSection } from "../print-results.ts";
import { holdingMarks, holdingTable, replaceQuote } from "../quoted-results.ts";
import { formatResults, parseResults } from "../results.ts";
import type { Results } from "../results.ts";
import { measureHolding } from "./section.ts";

const { values } = parseArgs({
  options: {
    repetitions: { type: "string" },
    quick: { type: "boolean", default: false },
    write: { type: "boolean", default: false },
  },
});
if (values.write && values.quick) throw new RangeError("--write needs all of each bound, not --quick");
const repetitions = Number(values.repetitions ?? (values.quick ? 1 : 3));
if (!Number.isInteger(repetitions) || repetitions < 1)
  throw new RangeError("--repetitions is not a whole number from 1");
using folder = temporaryFolder();
const section = await measureHolding({ isQuick: values.quick, repetitions, folder: folder.path });
printSection(section);

if (values.write) {
  const project = fileURLToPath(new URL(".", import.meta.resolve("memcell/package.json")));
  const results: Results = {
    effort: "full",
    rounds: repetitions,
    machine: { ...machine(), fileSystem: fileSystemOf(folder.path) },
    noise: [],
    sections: [section],
  };
  const text = formatResults(results);
  const placed = join(project, "test", "bench", "results");
  mkdirSync(placed, { recursive: true });
  writeFileSync(join(placed, "bench.holding.json"), text);
  const document = join(project, "test", "bench", "README.md");
  const quote = holdingTable(parseResults(text));
  writeFileSync(document, replaceQuote(readFileSync(document, "utf8"), quote, holdingMarks));
}
