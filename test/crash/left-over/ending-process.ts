/** A process that calls a tool for each of some users, and then ends without closing its runtime. */
import { createRuntime } from "../host-under-test.ts";

export type End = keyof typeof ends;

const ends = {
  /** Nothing is left to do. */
  return: () => {},
  "process.exit": () => process.exit(0),
  signal: () => process.kill(process.pid, "SIGTERM"),
  kill: () => process.kill(process.pid, "SIGKILL"),
};

const { dataDir, userIds, end } = JSON.parse(process.argv[2] ?? "") as {
  dataDir: string;
  userIds: readonly string[];
  end: End;
};

const runtime = await createRuntime({ dataDir, plugins: ["user-memory"], threadsMax: 1 });
for (const userId of userIds) {
  for (const [name, body] of [
    ["pref", "first"],
    ["secret", "a secret"],
    ["pref", "second"],
  ]) {
    const entry = { action: "upsert", name, body, type: "user", description: `About ${name}` };
    const result = await runtime.call("UpdateUserMemory", entry, { userId });
    if (!result.ok) throw new Error(result.error.message);
  }
}
process.stdout.write("acknowledged\n");
ends[end]();
