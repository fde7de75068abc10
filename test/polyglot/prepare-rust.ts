import { join } from "node:path";

import { cargoBuild, missingCargo } from "./cargo-build.ts";
import type { HostKind } from "./host-kind.ts";
import { hostSources } from "./host-sources.ts";

export const rust: HostKind = {
  language: "Rust",
  missing: missingCargo,
  prepare: async (signal) => {
    const built = await cargoBuild("rust", { sources: hostSources("rust"), options: ["--release"], signal });
    const command = join(built.target, "release", "memcell-host");
    return { command, args: [], env: { CARGO_BUILD_BUILD_DIR: built.build } };
  },
};
