/**
 * A fresh process that creates a runtime and calls it once. Prints the milliseconds from `createRuntime` to the result.
 *
 * usage: node first-call-process.js DATA-FOLDER
 */
import { createRuntime } from "memcell";

const [dataDir = ""] = process.argv.slice(2);
const startMs = performance.now();
const runtime = await createRuntime({ dataDir });
const result = await runtime.call("ReadUserMemory", { name: "e0" }, { userId: "alice" });
const firstResultMs = performance.now() - startMs;
await runtime.close();
if (!result.ok) throw new Error(result.error.message);
console.log(JSON.stringify({ firstResultMs }));
