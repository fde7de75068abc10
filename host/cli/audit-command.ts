import type { Command } from "./command.ts";
import { parseOptions } from "./parse-options.ts";
import { rebuildCommand } from "./rebuild-command.ts";
import { UsageError } from "./usage-error.ts";

export const auditCommand: Command = {
  help: `Builds the plugins anew from the sources of a clone, and says where the lock, the plugin files that a runtime
loads, or the list of components differ. Nothing of the clone is changed. It takes some 15 s.

Usage
  memcell audit --rebuild [PLUGIN.wasm] [--json]

Options
  --rebuild   builds and compares; PLUGIN.wasm is compared in the place of the shipped plugins
  --json      prints the report as JSON

Example
  memcell audit --rebuild

Exit codes
  0 nothing differs   1 something differs, or nothing could be rebuilt   2 the command line makes no sense
`,

  async run(args) {
    const { operands, options } = parseOptions(args, { texts: [], flags: ["rebuild", "json"] }, 1);
    if (!options.rebuild) throw new UsageError("--rebuild is missing");
    return await rebuildCommand({ ...(operands.length > 0 && { files: operands }), json: options.json ?? false });
  },
};
