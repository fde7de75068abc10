#!/usr/bin/env node
/**
 * `memcell`: the runtime on a command line. Results are JSON on standard output, logs go to standard error.
 * Exit codes: 0 the tool succeeded, 1 it failed, 2 the command line makes no sense.
 */
import { runCommand } from "./run-command.ts";

// Who reads the output may have seen enough: "memcell tools | head -1".
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") process.stderr.write(`memcell: cannot write the output (${error.code ?? "unknown"})\n`);
  process.exit(error.code === "EPIPE" ? 0 : 1);
});

// Who reads the log may be gone, or its terminal: what goes on is finished, and its result is told.
process.stderr.on("error", () => {});

process.exitCode = await runCommand(process.argv.slice(2));
