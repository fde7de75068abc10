/** A process that creates runtimes and closes each at a different moment while its threads start. */
import { setTimeout } from "node:timers/promises";

import { createRuntime } from "memcell";

const [dataDir = "", count = "0"] = process.argv.slice(2);
for (let at = 0; at < Number(count); at++) {
  const runtime = await createRuntime({ dataDir, threadsMax: 2 });
  // A different moment each time; nothing else is awaited.
  await setTimeout(at % 75);
  await runtime.close();
}
process.stdout.write("ended well");
