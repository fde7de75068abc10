import { runtimePaths } from "../config/settings.ts";
import type { Runtime } from "../runtime/api.ts";
import { mendedOf } from "../upkeep/doctor.ts";
import type { Finding } from "../upkeep/finding.ts";
import { ToolError } from "../values/tool-error.ts";
import { failureOf } from "../values/tool-result.ts";
import type { ToolFailure } from "../values/tool-result.ts";
import { visibleJson, visibleText } from "../values/visible-text.ts";
import { defineCommand } from "./command.ts";
import { openRuntime } from "./open-runtime.ts";
import { withProgress } from "./progress.ts";
import type { Progress } from "./progress.ts";

export const doctorCommand = defineCommand({
  name: "doctor",
  description: `Finds what is wrong with users' files after they were edited by hand or damaged, and says what it would do.
With --fix it then does it. What a person has written is never destroyed: it goes to the trash.`,
  texts: { user: ["ID", "whose files (default: everyone's)"] },
  flags: { fix: "mends what can be mended", json: "prints the findings as JSON" },
  settings: runtimePaths,
  examples: ["memcell doctor", "memcell doctor --user alice --fix"],
  exitCodes: ["0 nothing is wrong any more", "1 something needs --fix or a person, or could not be looked at"],

  async run({ options, settings }) {
    const { json: isQuiet = false, fix: isFixing = false } = options;
    await using runtime = await openRuntime(settings, options.user);
    const users = options.user === undefined ? await runtime.upkeep.users() : [options.user];
    const lookAtAll = async (progress: Progress): Promise<UserReport[]> => {
      const print = (text: string): void => (isQuiet ? undefined : progress.print(text));
      const reports: UserReport[] = [];
      for (const [at, userId] of users.entries()) {
        progress.show(`${at + 1} of ${users.length} users`);
        reports.push(await examine(runtime, { userId, isFixing, print }));
      }
      return reports;
    };
    const reports = await withProgress("doctor", lookAtAll, isQuiet);
    if (isQuiet) process.stdout.write(`${visibleJson(reports)}\n`);
    else process.stdout.write(`${users.length} ${users.length === 1 ? "user" : "users"} looked at\n`);
    return reports.every(({ error, remaining }) => error === null && remaining.length === 0) ? 0 : 1;
  },
});

interface UserReport {
  readonly userId: string;
  readonly findings: readonly Finding[];
  readonly mended: readonly Finding[];
  /** What is wrong afterwards. */
  readonly remaining: readonly Finding[];
  /** Why this user could not be examined. The others are. */
  readonly error: ToolFailure | null;
}

interface Examination {
  readonly userId: string;
  readonly isFixing: boolean;
  readonly print: (text: string) => void;
}

/** What is found is printed before anything is done about it. */
async function examine(runtime: Runtime, { userId, isFixing, print }: Examination): Promise<UserReport> {
  const report = { userId, findings: [] as Finding[], mended: [] as Finding[], remaining: [] as Finding[] };
  try {
    report.findings = report.remaining = await runtime.upkeep.inspect({ userId });
    print(describe(userId, report.findings));
    if (isFixing && report.findings.some(({ remedy }) => remedy !== null)) {
      try {
        await runtime.upkeep.mend({ userId });
      } finally {
        // Also when one plugin has failed: the others have mended what is theirs.
        report.remaining = await runtime.upkeep.inspect({ userId });
        report.mended = mendedOf(report.findings, report.remaining);
        print(`  mended: ${report.mended.length}, left: ${report.remaining.length}\n`);
      }
    }
    return { ...report, error: null };
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    print(`${userLine(userId)}  ${error.code}: ${visibleText(error.message)}\n`);
    return { ...report, error: failureOf(error) };
  }
}

function describe(userId: string, findings: readonly Finding[]): string {
  if (findings.length === 0) return "";
  const lines = findings.flatMap(({ path, message, remedy }) => [
    `  ${path}: ${message}`,
    `    ${remedy === null ? "needs a person" : `to mend: ${remedy}`}`,
  ]);
  return userLine(userId) + lines.map((line) => `${visibleText(line)}\n`).join("");
}

const userLine = (userId: string): string => `${visibleText(JSON.stringify(userId))}\n`;
