import { readArtifactFile } from "../artifact/artifact-file.ts";
import type { Artifact } from "../artifact/artifact.ts";
import { bundledPluginFiles } from "../catalog.ts";
import { loadPolicy } from "../policy/load-policy.ts";
import { proposeForAll } from "../policy/propose-for-all.ts";
import { makeReport } from "../report/make-report.ts";
import type { AuditReport } from "../report/report.ts";
import { textReport } from "../report/text-report.ts";
import { visibleJson } from "../report/visible-text.ts";
import { ToolError } from "../tool-error.ts";
import { orCodedFailure } from "./coded-failure.ts";
import type { Command } from "./command.ts";
import { parseOptions } from "./parse-options.ts";
import { UsageError } from "./usage-error.ts";

export const auditCommand: Command = {
  help: `Tells what a plugin file is from its bytes alone, and whether a runtime with a policy loads it: its hash, what it
imports and what each import does, its memory, its tools with the rights they ask for. Nothing of the file is run.

Usage
  memcell audit [PLUGIN.wasm] [--policy FILE] [--json]
  memcell audit [PLUGIN.wasm] --propose

Without PLUGIN.wasm, every plugin that the package ships.

Options
  --policy FILE  what the host is willing to grant (default: what the tools of the package need)
  --json         prints an array with one report for each plugin file
  --propose      prints the least policy that loads the plugin, and judges nothing

Examples
  memcell audit
  memcell audit other.wasm --propose > policy.json
  memcell audit other.wasm --policy policy.json --json

Exit codes
  0 PASS: a runtime with this policy loads every one   1 FAIL, or the policy cannot be used
  2 the command line makes no sense
`,

  async run(args) {
    const names = { texts: ["policy"], flags: ["json", "propose"] } as const;
    const { operands, options } = parseOptions(args, names, 1);
    const other = (["policy", "json"] as const).find((name) => options[name] !== undefined);
    if (options.propose && other)
      throw new UsageError(`--propose makes a policy, and --${other} is for judging by one`);
    return await orCodedFailure(async () => {
      const artifacts = await readArtifacts(operands);
      if (options.propose) return print(visibleJson(proposeForAll(artifacts)), 0);
      const reports = await judge(artifacts, options.policy);
      const isPassed = reports.every(({ verdict }) => verdict === "PASS");
      return print(options.json ? visibleJson(reports) : textOf(reports), isPassed ? 0 : 1);
    });
  },
};

async function readArtifacts(operands: readonly string[]): Promise<Artifact[]> {
  const files = operands.length > 0 ? operands : await bundledPluginFiles().catch(() => []);
  // To find nothing wrong with nothing would pass an installation without its plugins.
  if (files.length === 0) throw new ToolError("PLUGIN_REFUSED", "Cannot audit: the package has no plugins");
  return await Promise.all(files.map((file) => readArtifactFile(file)));
}

async function judge(artifacts: readonly Artifact[], policyFile: string | undefined): Promise<AuditReport[]> {
  const policy = await loadPolicy(policyFile);
  return artifacts.map((artifact) => makeReport({ artifact, policy, dependencies: null }));
}

function textOf(reports: readonly AuditReport[]): string {
  const { stdout } = process;
  const isColoured = stdout.isTTY && stdout.hasColors();
  return reports.map((report) => textReport(report, { isColoured })).join("\n\n");
}

function print(text: string, exitCode: number): number {
  process.stdout.write(`${text}\n`);
  return exitCode;
}
