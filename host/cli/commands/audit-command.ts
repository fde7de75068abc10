import { counted } from "../../../shared/text.ts";
import { summariseLog } from "../../audit/verify/summarise-log.ts";
import type { LogSummary, Changes, UserCalls } from "../../audit/verify/summarise-log.ts";
import { readSettings } from "../../config/read-settings.ts";
import { UsageError } from "../../config/usage-error.ts";
import { flag, listOf, optional, text } from "../../owner/field.ts";
import { readArtifactFile } from "../../plugins/artifact/artifact-file.ts";
import type { Artifact } from "../../plugins/artifact/artifact.ts";
import { choosePlugins } from "../../plugins/bundled-plugins.ts";
import { replaces } from "../../plugins/clash-clauses.ts";
import { loadPolicy } from "../../plugins/policy/load-policy.ts";
import { proposeForAll } from "../../plugins/policy/propose-policy.ts";
import { readDependencies } from "../../report/dependencies.ts";
import { judgeTogether, makeReport } from "../../report/make-report.ts";
import { htmlPage } from "../../report/page/html-page.ts";
import { writePage } from "../../report/page/write-page.ts";
import type { AuditReport } from "../../report/report.ts";
import { textReport } from "../../report/text-report.ts";
import { visibleJson, visibleName } from "../../values/visible-text.ts";
import { columns, shortened } from "../columns.ts";
import { defineCommand } from "../command.ts";
import { isColoured } from "../print-told.ts";
import type { Terminal } from "../terminal.ts";
import { linesOfVerification } from "./verify-command.ts";

export const command = defineCommand({
  name: "audit",
  description: `Reports whether a runtime that uses the policy would load a plugin file. Prints the file's hash, its
imports and what each import does, its memory, its tools with the rights they request, and what the policy takes away. It only reads the file's
bytes and runs nothing in it. For several files it also reports which of them cannot be loaded together.

"memcell audit verify" checks only audit logs.`,
  fields: {
    named: listOf(
      text(
        "PLUGIN",
        "plugin files, or names of plugins in the package (default: all in the package, and those of the setting plugins)",
      ),
    ),
    log: optional(text("LOG", "also verifies this audit log and prints a summary of it")),
    html: optional(
      text("FILE", "also writes the report as an HTML page that loads no other files and runs no scripts"),
    ),
    json: flag("prints { reports, log } as JSON: a report for each plugin file, and the log's summary or null"),
    propose: flag("prints the smallest policy that grants the plugins all that they ask for, instead of a report"),
  },
  operands: ["named"],
  settings: ["policy"],
  examples: [
    "memcell audit",
    "memcell audit other.wasm --propose > policy.json",
    "memcell audit other.wasm --policy policy.json --json",
    "memcell audit --log log/audit.jsonl --html audit.html",
  ],
  exitCodes: [
    "PASS: a runtime with this policy loads all the plugins, and the log is intact",
    "FAIL, or something could not be read",
  ],

  async run({ input: { named = [], html, log, json, propose }, settings, terminal }) {
    if (propose) refuseOthers({ policy: settings.given.get("policy"), html, log, json });
    const { values } = await readSettings(settings);
    const audited = named.length > 0 ? await readNamed(named) : await readLoaded(values.plugins);
    if (propose) return print(terminal, visibleJson(proposeForAll([...audited.together, ...audited.alone])), 0);
    const audit = {
      reports: await judge(audited, values.policy ?? undefined),
      log: log === undefined ? null : summariseLog([log]),
    };
    if (html !== undefined) await writePage(html, htmlPage(audit.reports, audit.log));
    return print(terminal, json ? visibleJson(audit) : textOf(audit), isPassed(audit) ? 0 : 1);
  },
});

interface Audit {
  readonly reports: readonly AuditReport[];
  readonly log: LogSummary | null;
}

function refuseOthers(options: Readonly<Record<string, unknown>>): void {
  const other = Object.keys(options).find((name) => options[name] !== undefined);
  if (other !== undefined)
    throw new UsageError(`--propose only prints a policy and cannot be combined with --${other}`);
}

/** Files that are judged together, and files that a runtime loads only beside those, each judged alone. */
interface Audited {
  readonly together: readonly Artifact[];
  readonly alone: readonly Artifact[];
}

async function readNamed(named: readonly string[]): Promise<Audited> {
  return { together: await readAll((await choosePlugins(named, [])).named), alone: [] };
}

/** All plugins of the package, and what the setting names; that can take the place of one of the package. */
async function readLoaded(setting: readonly string[]): Promise<Audited> {
  const { named, besides } = await choosePlugins(setting, "all");
  const [together, others] = await Promise.all([readAll(named), readAll(besides)]);
  const isReplaced = ({ manifest: other }: Artifact): boolean =>
    together.some(({ manifest }) => manifest !== null && other !== null && replaces(manifest, other));
  return { together, alone: others.filter((each) => !isReplaced(each)) };
}

const readAll = (files: readonly string[]): Promise<Artifact[]> =>
  Promise.all(files.map((file) => readArtifactFile(file)));

async function judge({ together, alone }: Audited, policyFile: string | undefined): Promise<AuditReport[]> {
  const policy = await loadPolicy(policyFile);
  const report = async (artifact: Artifact): Promise<AuditReport> =>
    makeReport({ artifact, policy, dependencies: await readDependencies(artifact.sha256) });
  const [named, others] = await Promise.all([Promise.all(together.map(report)), Promise.all(alone.map(report))]);
  const reports = judgeTogether(named, policy);
  return others.length === 0 ? reports : [...reports, ...others].toSorted(byFile);
}

const byFile = ({ artifact: a }: AuditReport, { artifact: b }: AuditReport): number => (a.file < b.file ? -1 : 1);

function isPassed({ reports, log }: Audit): boolean {
  return reports.every(({ verdict }) => verdict === "PASS") && (log === null || log.verification.isIntact);
}

function textOf({ reports, log }: Audit): string {
  const texts = reports.map((report) => textReport(report, { isColoured: isColoured() }));
  if (log === null) return texts.join("\n\n");
  return [...texts, textOfLog(log)].join("\n\n");
}

function print({ stdout }: Terminal, shown: string, exitCode: number): number {
  stdout.write(`${shown}\n`);
  return exitCode;
}

/** The summary of an audit log, for a terminal. */
function textOfLog(log: LogSummary): string {
  const counts = `${log.calls} calls, ${log.failed} failed; ${log.denials} denied uses, ${log.failedUses} failed uses`;
  const verified = ["LOG", ...linesOfVerification(log.verification), counts];
  return [...verified, ...refusalLines(log), ...originLines(log), ...userLines(log)].join("\n");
}

/** Empty if nothing was refused, as in most logs: programs that embed memcell usually admit their users themselves. */
function refusalLines({ refused, refusals, refusedNotShown }: LogSummary): string[] {
  if (refused === 0) return [];
  const kinds = refusals.map(({ surface, reason, times }) => `  ${surface} ${reason}: ${times}`);
  const others = refusedNotShown > 0 ? [`  other kinds: ${refusedNotShown}`] : [];
  return [`${refused} requests refused before any tool was called`, ...kinds, ...others];
}

/** Empty if no program has told where its texts come from. */
function originLines({ callsByOrigin }: LogSummary): string[] {
  if (callsByOrigin.length === 0) return [];
  const rows = callsByOrigin.map((sums) => [sums.class, `${sums.calls}`, `${changesIn(sums)}`]);
  return [columns([["origins", "calls", "changed"], ...rows], { numbers: [1, 2] }).trimEnd()];
}

/** One screen. The page and the JSON report have more. */
const usersMax = 20;

function userLines({ callsByUser, usersNotShown }: LogSummary): string[] {
  if (callsByUser.length === 0) return [];
  const shown = callsByUser.slice(0, usersMax);
  const heading = ["users", "calls", "failed", "denied", "refused", "changed", "last"];
  const table = columns([heading, ...shown.map(rowOf)], { numbers: [1, 2, 3, 4, 5] }).trimEnd();
  const left = callsByUser.length - shown.length + usersNotShown;
  return [table, ...(left > 0 ? [`  and ${counted(left, "more user")}`] : [])];
}

function rowOf({ userId, lastTime, ...sums }: UserCalls): string[] {
  const { calls, failed, denials, refused } = sums;
  const name = userId === null ? "(no valid user id)" : shortened(visibleName(userId, 255), 36);
  const counts = [calls, failed, denials, refused, changesIn(sums)].map(String);
  return [name, ...counts, `${lastTime.slice(0, 10)} ${lastTime.slice(11, 16)}`];
}

const changesIn = ({ written, trashed, removed, granted }: Changes): number => written + trashed + removed + granted;
