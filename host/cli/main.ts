#!/usr/bin/env node
/**
 * `memcell`: the runtime on a command line. Results go to standard output, logs and errors to standard error.
 * Exit codes: 0 done, 1 failed, 2 the command line or a setting is invalid.
 */
import { runCommand } from "./run-command.ts";

// A reader can close the pipe early: "memcell tools | head -1".
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") process.stderr.write(`memcell: cannot write the output (${error.code ?? "unknown"})\n`);
  process.exit(error.code === "EPIPE" ? 0 : 1);
});

// The reader of standard error can be gone. The command still finishes and prints its result.
process.stderr.on("error", () => {});

process.exitCode = await runCommand(process.argv.slice(2), process);
