/** A process that makes runtimes and closes each while its threads are at another point of their beginning. */
import { setTimeout } from "node:timers/promises";

import { createRuntime } from "memcell";

const [dataDir = "", count = "0"] = process.argv.slice(2);
for (let at = 0; at < Number(count); at++) {
  const runtime = await createRuntime({ dataDir, threadsMax: 2 });
  // Nothing is waited for: each time it is another point.
  await setTimeout(at % 75);
  await runtime.close();
}
process.stdout.write("ended well");
