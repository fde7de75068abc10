import type { Runtime } from "../api.ts";
import type { Finding } from "../upkeep/upkeep.ts";
import { orCodedFailure } from "./coded-failure.ts";
import type { Command } from "./command.ts";
import { openRuntime } from "./open-runtime.ts";
import { parseOptions } from "./parse-options.ts";

export const doctorCommand: Command = {
  help: `Finds what is wrong with users' files after they were edited by hand or damaged, and says what it would do.
With --fix it then does it. What a person has written is never destroyed: it goes to the trash.

Usage
  memcell doctor [--user ID] [--fix] [--json] [--data DIR]

Options
  --user ID    whose files (default: everyone's)
  --fix        mends what can be mended
  --json       prints the findings as JSON
  --data DIR   the data folder (default: data)

Examples
  memcell doctor
  memcell doctor --user alice --fix

Exit codes
  0 nothing is wrong, or all of it was mended   1 something needs --fix or a person
  2 the command line makes no sense
`,

  async run(args) {
    const { options } = parseOptions(args, { texts: ["user", "data"], flags: ["fix", "json"] }, 0);
    return await orCodedFailure(async () => {
      await using runtime = await openRuntime(options.data);
      const users = options.user === undefined ? await runtime.upkeep.users() : [options.user];
      const reports: UserReport[] = [];
      for (const userId of users) {
        const report = await examine(runtime, userId, options.fix === true);
        if (!options.json) printReport(report);
        reports.push(report);
      }
      if (options.json) process.stdout.write(`${JSON.stringify(reports, null, 2)}\n`);
      else process.stdout.write(`${users.length} ${users.length === 1 ? "user" : "users"} looked at\n`);
      return reports.every(({ findings, mended }) => findings.length === mended.length) ? 0 : 1;
    });
  },
};

interface UserReport {
  readonly userId: string;
  readonly findings: readonly Finding[];
  readonly mended: readonly Finding[];
}

/** What is found is printed before anything is done about it. */
async function examine(runtime: Runtime, userId: string, isFixing: boolean): Promise<UserReport> {
  const findings = await runtime.upkeep.inspect({ userId });
  const isUseful = isFixing && findings.some(({ remedy }) => remedy !== null);
  return { userId, findings, mended: isUseful ? await runtime.upkeep.mend({ userId }) : [] };
}

function printReport({ userId, findings, mended }: UserReport): void {
  if (findings.length === 0) return;
  process.stdout.write(`${JSON.stringify(userId)}\n`);
  for (const { path, message, remedy } of findings) {
    process.stdout.write(`  ${path}: ${message}\n    ${remedy === null ? "needs a person" : `to mend: ${remedy}`}\n`);
  }
  if (mended.length > 0) process.stdout.write(`  mended: ${mended.length} of ${findings.length}\n`);
}
