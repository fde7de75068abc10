/** Makes one call in its own process. The tracing test decides where to kill it. */
import { createRuntime } from "memcell";

import { policyFor } from "../support/policy-for.ts";

const [dataDir = "", dir = "", plugin = ""] = process.argv.slice(2);
const runtime = await createRuntime({
  dataDir,
  mounts: [{ userId: "alice", scope: "journal", dir }],
  plugins: [plugin],
  policy: policyFor([plugin]),
  threadsMax: 1,
});
const ask = (path: string, content: string): object => ({
  of: "store_write",
  ask: { scope: "journal", path, content },
});
// The first commit creates everything, so the second consists of flushes and renames only.
await runtime.call("Puppet", [ask("a.md", "old"), ask("b.md", "old")], { userId: "alice" });
process.stdout.write("ready\n");
process.stdin.once("data", () => {
  void runtime
    .call("Puppet", [ask("a.md", "new"), ask("b.md", "new"), ask("2026/c.md", "new")], { userId: "alice" })
    .then((result) => process.stdout.write(`${result.ok ? "acknowledged" : "failed"}\n`))
    .then(() => runtime.close())
    .then(() => process.stdin.destroy());
});
