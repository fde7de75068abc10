/**
 * `npm run bench:holding`: measures how long each operation holds the event loop, and prints it. It takes no turns with
 * other sections: its figures are compared with a bound, and with nothing else.
 *
 * usage: node dist/test/bench/holding/main.js [--quick] [--repetitions N]
 *
 *   --quick        a hundredth of each bound: shows that everything runs; do not quote it
 *   --repetitions  of what can be repeated (3, or 1 with --quick)
 */
import { parseArgs } from "node:util";

import { temporaryFolder } from "../../support/temporary-folder.ts";
import { printSection } from "../print-results.ts";
import { measureHolding } from "./section.ts";

const { values } = parseArgs({
  options: { repetitions: { type: "string" }, quick: { type: "boolean", default: false } },
});
const repetitions = Number(values.repetitions ?? (values.quick ? 1 : 3));
if (!Number.isInteger(repetitions) || repetitions < 1)
  throw new RangeError("--repetitions is not a whole number from 1");
using folder = temporaryFolder();
printSection(await measureHolding({ isQuick: values.quick, repetitions, folder: folder.path }));
