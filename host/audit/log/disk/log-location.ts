import { mkdirSync } from "node:fs";
import { dirname } from "node:path";

import { systemCode } from "../../../disk/disk-failure.ts";
import { identityAt } from "../../../disk/leads-into.ts";
import { attempt } from "./failure-of-log.ts";

/** Makes a folder and those above it, for their owner only. */
export function makeFolders(path: string): void {
  if (identityAt(path) !== null) return;
  // Step by step: below some mount points Node's own recursion never ends.
  if (dirname(path) !== path) makeFolders(dirname(path));
  attempt("open", () => {
    try {
      mkdirSync(path, { mode: 0o700 });
    } catch (error) {
      // Another process may be making it too.
      if (systemCode(error) !== "EEXIST") throw error;
    }
  });
}
