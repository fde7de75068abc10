/** Texts that a plugin, a policy or a log could have for their effect, and reports that have them in every place. */
import type { LogSummary } from "../../host/audit/verify/log-summary.ts";
import { wordParts } from "../../host/report/page/break-points.ts";
import { htmlPage } from "../../host/report/page/html-page.ts";
import { html, Markup } from "../../host/report/page/markup.ts";
import type { AuditReport } from "../../host/report/report.ts";
import { textReport } from "../../host/report/text-report.ts";
import { visibleText } from "../../host/values/visible-text.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { auditJson, callEntry, refusedEntry, useEntry, writeChain } from "./audited.ts";

export { html, Markup, visibleText, wordParts };

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
  '<a href="javascript:window.ran=1">here</a><a href="https://attacker.example/">there</a>',
  '<meta http-equiv="refresh" content="0;url=https://attacker.example/">',
  '<link rel="stylesheet" href="https://attacker.example/x.css"><base href="https://attacker.example/">',
  '" onmouseover=window.ran=1 style=background:url(https://attacker.example/) x="',
  "${window.ran = 1} {{ran}} <%= ran %>",
  "&lt;script&gt;window.ran = 1&lt;/script&gt; &#60;b&#62;",
  "user-memory\u202egnp.exe",
  "\u2066\u2067isolated\u2069 \u200fright\u200e\u061c",
  "\u001b[2J\u001b[1;32mPASS\u001b[0m\u0007\u0000\u0085",
  "zero\u200bwidth\u2060\ufeff \u00ad \u3164 \u{e0041}tag",
  "line\nbreak\r\nand\u2028more\u2029",
  "lone \ud800 half \udc00",
  `piled${"\u0301\u0489".repeat(500)}`,
  `name${"\u00a0".repeat(200)}FAIL`,
  "x".repeat(100_000),
  "W\u0300".repeat(50_000),
];

/** For a terminal. */
export const terminalTexts: readonly (readonly [name: string, text: string])[] = [
  ["a line feed and a verdict", "x\nPASS  it is what its manifest says"],
  ["a carriage return", "x\rPASS  it is what its manifest says"],
  ["a sequence that clears the screen", "\u001b[2J\u001b[H"],
  ["a sequence that sets the title", "\u001b]0;memcell\u0007"],
  ["a one-character control sequence", "\u009b2J"],
  ["a link", "\u001b]8;;https://example.com\u001b\\memcell\u001b]8;;\u001b\\"],
  ["a backspace", "FAIL\b\b\b\bPASS"],
  ["a bidirectional override", "\u202eSSAP\u202c"],
  ["a bidirectional isolate", "\u2067SSAP\u2069"],
  ["a line separator", "x\u2028PASS\u2029PASS"],
  ["a next line", "x\u0085PASS"],
  ["invisible characters", "\u200b\u2060\ufeff\u00ad\u115f\u3164\ufe0f\u{e0041}"],
  ["a lone surrogate", "\ud800"],
  ["a NUL", "\u0000"],
];

/** Everything but visible characters, spaces and the report's own line feeds. */
export const unsafeOnTerminal: RegExp = /[^\P{C}\n]|[\u2028\u2029]|\p{Default_Ignorable_Code_Point}/u;

async function honest(): Promise<{ report: AuditReport; log: LogSummary }> {
  using folder = temporaryFolder();
  const file = `${folder.path}/audit.jsonl`;
  const denied = { changes: "dropped", code: "CAPABILITY_DENIED", usesDenied: 1 } as const;
  const origin = { class: "direct_user", run: "r", turn: "1", source: "s", exposedTo: ["unstated"] } as const;
  const call = callEntry(1, { ...denied, origin: { ...origin, exposedTo: [...origin.exposedTo] } });
  writeChain(file, [call, useEntry(1), refusedEntry()]);
  const { reports, log } = await auditJson("user-memory", "--log", file);
  return { report: reports[0] as unknown as AuditReport, log: log as unknown as LogSummary };
}
const { report, log } = await honest();

/** Values that choose what the page says, and times, whose form is checked in each record. */
const choosing = new Set([
  "verdict",
  "audience",
  "callers",
  "rights",
  "right",
  "about",
  "kind",
  "of",
  "time",
  "firstTime",
  "lastTime",
]);

/** The value with a payload in the place of every text, and with at least one entry for each payload in its lists. */
function hostile(value: unknown, next: () => string, name = ""): unknown {
  if (choosing.has(name)) return value;
  if (typeof value === "string") return next();
  if (Array.isArray(value)) {
    const items: unknown[] =
      value.length > 0 && name !== "tools" ? payloads.map((_, at) => value[at % value.length] as unknown) : value;
    return items.map((item) => hostile(item, next, "item"));
  }
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, hostile(each, next, key)]));
}

function teller(): () => string {
  let at = 0;
  return () => payloads[at++ % payloads.length] ?? "";
}

/** A page whose texts are all hostile. */
export function hostilePage(): string {
  const next = teller();
  const finding = { kind: "altered", seq: 1, file: "", line: 1, text: "" } as const;
  const told = { ...log, verification: { ...log.verification, isIntact: false, findings: [finding], notes: [""] } };
  const failed = {
    ...report,
    verdict: "FAIL" as const,
    deviations: payloads.map((text) => ({ about: "file" as const, text })),
  };
  const reports = [failed, { ...report, narrowings: [""] }].map((each) => hostile(each, next) as AuditReport);
  return htmlPage(reports, hostile(told, next) as LogSummary);
}

/** A page that has these texts as what a policy takes away, and the same text as the name of the policy. */
export const pageWith = (...texts: readonly string[]): string =>
  htmlPage([{ ...report, narrowings: texts, policy: { ...report.policy, name: texts[0] ?? "" } }], null);

export const pageOfLog = (changes: Partial<LogSummary>): string => htmlPage([], { ...log, ...changes });

export const textOf = (each: object, isColoured: boolean): string => textReport(each as AuditReport, { isColoured });
