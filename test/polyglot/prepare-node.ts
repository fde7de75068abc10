import { fileURLToPath } from "node:url";

import type { HostKind } from "./host-kind.ts";

const program = fileURLToPath(new URL("../../dist/test/polyglot/node/main.js", import.meta.url));

/** Compiled with the project. */
export const node: HostKind = {
  language: "Node",
  missing: () => Promise.resolve(null),
  prepare: () => Promise.resolve({ command: process.execPath, args: [program], isToldOfRenewal: true }),
};
