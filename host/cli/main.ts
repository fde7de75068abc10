#!/usr/bin/env node
/**
 * `memcell`: the runtime on a command line. Results are JSON on standard output, logs go to standard error.
 * Exit codes: 0 the tool succeeded, 1 it failed, 2 the command line makes no sense.
 */
import { runCommand } from "./run-command.ts";

process.exitCode = await runCommand(process.argv.slice(2));
