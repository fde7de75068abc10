/** One of several hosts: serves some users at the same time for some seconds, and prints how many upserts it made. */
import { createRuntime, postgresStore } from "memcell";

import { expectOk, upsertInput } from "../entry.ts";

const [url = "", first = "0", count = "1", seconds = "5"] = process.argv.slice(2);

await using runtime = await createRuntime({
  store: postgresStore({ url, connectionsMax: 20 }),
  queuedCallsMax: 1_000,
  waitMs: 60_000,
});

let made = 0;
process.stdout.write("ready\n");
await new Promise((resolve) => {
  process.stdin.once("data", resolve);
});
const until = performance.now() + Number(seconds) * 1_000;
const users = Array.from({ length: Number(count) }, (_, at) => `user-${Number(first) + at}`);
await Promise.all(
  users.map(async (userId) => {
    for (let at = 0; performance.now() < until; at++) {
      await expectOk(runtime.call("UpdateUserMemory", upsertInput(at % 10, at), { userId }));
      made++;
    }
  }),
);
process.stdout.write(`${made}\n`);
process.stdin.destroy();
