/** `memcell` in a process that writes as its last line of standard error how many MiB of memory it has taken at most. */
import { peakMemoryMib } from "../support/peak-memory.ts";

process.on("exit", () => process.stderr.write(`${peakMemoryMib()}\n`));
await import(new URL("../../host/cli/main.js", import.meta.url).href);
