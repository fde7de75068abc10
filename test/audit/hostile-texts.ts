/** Texts that a plugin, a policy or a log could have for their effect, and pages that have them in every place. */
import type { LogSummary } from "../../host/audit/verify/log-summary.ts";
import { htmlPage } from "../../host/report/page/html-page.ts";
import type { AuditReport } from "../../host/report/report.ts";
import { textReport } from "../../host/report/text-report.ts";
import { visibleText } from "../../host/values/visible-text.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { auditJson, callEntry, refusedEntry, useEntry, writeChain } from "./audited.ts";

export { visibleText };

/** For a page. Each leaves a trace when it runs: a property of the window, a console message, or a request. */
export const payloads: readonly string[] = [
  "<script>window.ran = 1; console.log('ran')</script>",
  '"><img src=x onerror="window.ran = 1">',
  "'><svg onload='window.ran = 1'>",
  "</style><script>window.ran = 1</script><style>body { display: none }",
  "</title><script>window.ran = 1</script>",
  "--><!-- <![CDATA[",
  "</table></section></main><h1>PASS</h1>",
  "javascript:window.ran=1",
  '<meta http-equiv="refresh" content="0;url=https://attacker.example/"><base href="https://attacker.example/">',
  '" onmouseover=window.ran=1 style=background:url(https://attacker.example/) x="',
  "&lt;script&gt;window.ran = 1&lt;/script&gt; &#60;b&#62;",
  "\u2066\u2067isolated\u2069 \u202eright\u200e\u061c",
  "\u001b[2J\u001b[1;32mPASS\u001b[0m\u0007\u0000\u0085",
  "zero\u200bwidth\u2060\ufeff \u00ad \u3164 \u{e0041}tag",
  "line\nbreak\r\nand\u2028more\u2029",
  "lone \ud800 half \udc00",
  `piled${"\u0301\u0489".repeat(500)}`,
  `name${"\u00a0".repeat(200)}FAIL`,
  "x".repeat(100_000),
  "W\u0300".repeat(50_000),
];

/** Everything but visible characters, spaces and the report's own line feeds. */
export const unsafeOnTerminal: RegExp = /[^\P{C}\n]|[\u2028\u2029]|\p{Default_Ignorable_Code_Point}/u;

/** What the command says of the shipped plugin, and of a log with records of each kind that a page shows. */
async function honest(): Promise<{ report: AuditReport; log: LogSummary }> {
  using folder = temporaryFolder();
  const file = `${folder.path}/audit.jsonl`;
  const denied = { changes: "dropped", code: "CAPABILITY_DENIED", usesDenied: 1 } as const;
  const texts = { run: "r", turn: "1", source: "s" };
  const call = callEntry(1, { ...denied, origin: { class: "direct_user", ...texts, exposedTo: ["unstated"] } });
  writeChain(file, [call, useEntry(1), refusedEntry()]);
  const { reports, log } = await auditJson("user-memory", "--log", file);
  return { report: reports[0] as unknown as AuditReport, log: log as unknown as LogSummary };
}
const { report, log } = await honest();

/** Values that choose what the page says, and times, whose form is checked in each record. */
const choosing = /^(verdict|audience|callers|rights?|about|kind|of|time|firstTime|lastTime)$/;

/** The value with another text in the place of each, and with at least one entry for each payload in its lists. */
function changed(value: unknown, next: (text: string) => string, name = ""): unknown {
  if (choosing.test(name)) return value;
  if (typeof value === "string") return next(value);
  if (Array.isArray(value)) {
    const isFilled = value.length > 0 && name !== "tools";
    const items: unknown[] = isFilled ? payloads.map((_, at) => value[at % value.length] as unknown) : value;
    return items.map((item) => changed(item, next, "item"));
  }
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, changed(each, next, key)]));
}

/** A page of two reports and a broken log. Each text goes through the function. */
function pageOf(next: (text: string) => string): string {
  const finding = { kind: "altered", seq: 1, file: "", line: 1, text: "" } as const;
  const told = { ...log, verification: { ...log.verification, isIntact: false, findings: [finding], notes: [""] } };
  const deviations = payloads.map(() => ({ about: "file" as const, text: "" }));
  const failed = { ...report, verdict: "FAIL" as const, deviations };
  const reports = [failed, { ...report, narrowings: [""] }].map((each) => changed(each, next) as AuditReport);
  return htmlPage(reports, changed(told, next) as LogSummary);
}

export const honestPage = (): string => pageOf((text) => text);

/** The same with hostile texts only. */
export function hostilePage(): string {
  let at = 0;
  return pageOf(() => payloads[at++ % payloads.length] ?? "");
}

/** A page that has this text as what a policy takes away, and as the name of the policy. */
export const pageWith = (text: string): string =>
  htmlPage([{ ...report, narrowings: [text], policy: { ...report.policy, name: text } }], null);

export const textOf = (each: object, isColoured: boolean): string => textReport(each as AuditReport, { isColoured });
