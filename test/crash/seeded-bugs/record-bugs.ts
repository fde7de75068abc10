/** Bugs in what the host keeps about a user: the writes that wait, and how far runs are trusted. */
import type { SeededBug } from "./seeded-bug.ts";

const changes = "store/files/record-changes.js";

export const recordBugs: readonly SeededBug[] = [
  {
    name: "a record of the host is not flushed",
    file: changes,
    find: "await folder.flush();\n    own.remove(mark);",
    replacement: "void folder;\n    own.remove(mark);",
  },
  {
    name: "the host's records of a killed process are taken for durable",
    file: changes,
    find: "await folder?.flush();",
    replacement: "void folder;",
  },
  {
    name: "a write stops waiting before it is applied",
    file: "store/decided-commits.js",
    find: "await decision?.begin(records, history);",
    replacement: "await decision?.begin(records, history);\n    await decision?.end(records);",
  },
  {
    name: "an approval is not noted before it is applied",
    file: "gate/approval.js",
    find: 'await noteDecisions(records, [{ id, how: "approved", atMs, by: null }]);',
    replacement: "void noteDecisions;",
  },
  {
    name: "a run that has read is trusted less only after the answer",
    file: "call/gated-call.js",
    find: "await runTrust.lower(",
    replacement: "void runTrust.lower(",
  },
];
