import { shownPath } from "../../../shared/encoded-name.ts";
import { counted } from "../../../shared/text.ts";
import type { SettingFlags } from "../../config/read-settings.ts";
import { runtimePaths } from "../../config/settings.ts";
import { mendedOf } from "../../owner/doctor.ts";
import { flag, optional, shownAge } from "../../owner/field.ts";
import { isProblem } from "../../owner/finding.ts";
import type { Finding } from "../../owner/finding.ts";
import type { Runtime } from "../../runtime/api.ts";
import { ToolError } from "../../values/tool-error.ts";
import { failureOf } from "../../values/tool-result.ts";
import type { ToolFailure } from "../../values/tool-result.ts";
import { defineCommand, userField } from "../command.ts";
import { openRuntime, refuseUnknown } from "../open-runtime.ts";
import { printResult, shownTold } from "../print-told.ts";
import { withProgress } from "../progress.ts";
import type { Progress } from "../progress.ts";
import { storePlace } from "../store-place.ts";

export const command = defineCommand({
  name: "doctor",
  description: `Finds problems in users' files that were edited by hand or damaged, and prints how it would mend them.
With --fix it then mends them. It never destroys what a person has written: that goes to the trash. All plugins of the
package are loaded, besides those that the setting names.`,
  fields: {
    user: optional(userField("the user whose files are checked (default: all users)")),
    fix: flag("mends the problems that can be mended automatically"),
    json: flag("prints the findings as JSON"),
  },
  settings: runtimePaths,
  examples: ["memcell doctor", "memcell doctor --user alice --fix"],
  exitCodes: ["no problem is left", "a problem needs --fix or a person, or a user's files could not be checked"],

  async run({ input, settings, terminal }) {
    const { user, json: isQuiet = false, fix: isFixing = false } = input;
    // Without --fix it changes nothing, and it shows what is left over.
    await using runtime = await openRuntime({ settings, terminal }, user, {
      besides: "all",
      isOwners: true,
      isReading: !isFixing,
      retiresLeftOver: false,
    });
    if (isFixing && runtime.asReadOnly() === runtime) {
      throw new ToolError("READ_ONLY", "Cannot mend users' files: the runtime is read-only");
    }
    const users = user === undefined ? await runtime.upkeep.users() : [user];
    const lookAtAll = async (progress: Progress): Promise<UserReport[]> => {
      const print = (lines: readonly string[]): void =>
        isQuiet ? undefined : progress.print(shownTold(lines, terminal.stdout));
      const examination = { isFixing, print, settings };
      const strays = user === undefined ? [await examine(runtime, { userId: null, ...examination })] : [];
      const reports = strays.filter(({ findings, error }) => findings.length > 0 || error !== null);
      for (const [at, userId] of users.entries()) {
        progress.show(`${at + 1} of ${users.length} users`);
        reports.push(await examine(runtime, { userId, ...examination }));
      }
      return reports;
    };
    const reports = await withProgress(terminal, "doctor", lookAtAll, isQuiet);
    const isSilent = reports.every(({ findings, error }) => findings.length === 0 && error === null);
    if (user !== undefined && isSilent) await refuseUnknown(runtime, user, "check the user's files");
    const nothing = users.length === 0 ? ": nothing is stored there" : "";
    printResult(terminal, isQuiet, reports, [`${counted(users.length, "user")} checked${nothing}`]);
    return reports.every(({ error, remaining }) => error === null && !remaining.some(isProblem)) ? 0 : 1;
  },
});

interface UserReport {
  /** `null`: what belongs to nobody. */
  readonly userId: string | null;
  readonly findings: readonly Finding[];
  readonly mended: readonly Finding[];
  /** The problems that are left. */
  readonly remaining: readonly Finding[];
  /** Why this user could not be examined. The other users still are. */
  readonly error: ToolFailure | null;
}

interface Examination {
  /** `null`: what belongs to nobody. */
  readonly userId: string | null;
  readonly isFixing: boolean;
  readonly print: (lines: readonly string[]) => void;
  readonly settings: SettingFlags;
}

/** Prints the findings before it mends any of them. */
async function examine({ upkeep }: Runtime, { userId, isFixing, print, settings }: Examination): Promise<UserReport> {
  const inspect = (): Promise<Finding[]> => (userId === null ? upkeep.strays() : upkeep.inspect({ userId }));
  const report = { userId, findings: [] as Finding[], mended: [] as Finding[], remaining: [] as Finding[] };
  try {
    report.findings = report.remaining = await inspect();
    const told = linesOf(userId, report.findings);
    const place = userId === null ? [] : await storePlace(settings, userId, told.join("\n"));
    print([...told, ...place.map((line) => `  ${line}`)]);
    if (isFixing && report.findings.some(({ remedy }) => remedy !== null)) {
      try {
        await (userId === null ? upkeep.mendStrays() : upkeep.mend({ userId }));
      } finally {
        // Also after one plugin has failed: the other plugins have mended their files.
        report.remaining = await inspect();
        report.mended = mendedOf(report.findings, report.remaining);
        print([`  mended: ${report.mended.length}, left: ${report.remaining.length}`]);
      }
    }
    return { ...report, error: null };
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    print([nameOf(userId), `  ${error.code}: ${error.message}`]);
    return { ...report, error: failureOf(error) };
  }
}

function linesOf(userId: string | null, findings: readonly Finding[]): string[] {
  const lines = findings.flatMap((finding) => [
    `  ${shownPath(finding.path)}: ${finding.message}${written(finding)}`,
    `    ${isProblem(finding) ? mending(finding) : "in use: nothing to mend"}`,
  ]);
  return lines.length === 0 ? [] : [nameOf(userId), ...lines];
}

const mending = ({ remedy }: Finding): string => (remedy === null ? "needs a person" : `to mend: ${remedy}`);

const written = ({ ageMs }: Finding): string => (ageMs === undefined ? "" : ` (last written ${shownAge(ageMs)} ago)`);

const nameOf = (userId: string | null): string => (userId === null ? "belongs to nobody" : JSON.stringify(userId));
