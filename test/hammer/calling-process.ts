/** A process with its own runtime and several concurrent callers; `processes.slow.test.ts` starts it. */
import { createRuntime } from "../crash/host-under-test.ts";
import { makeCalls } from "./caller.ts";

const [dataDir = "", id = "", callersCount = "0", callsCount = "0"] = process.argv.slice(2);

const notes: string[] = [];
const runtime = await createRuntime({ dataDir, onLog: ({ text, userId }) => void notes.push(`${userId}: ${text}`) });
process.send?.("ready");
await new Promise((resolve) => process.once("message", resolve));
const callers = Array.from({ length: Number(callersCount) }, (_, at) =>
  makeCalls(runtime, `${id}${String.fromCharCode(97 + at)}`, Number(callsCount)),
);
const reports = await Promise.all(callers);
await runtime.close();
process.send?.({ reports, notes }, () => process.disconnect());
