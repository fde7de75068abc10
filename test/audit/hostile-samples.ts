/**
 * Every text that a plugin, a policy or a log can supply, written to break out of the page or to deceive the reader.
 */
import type { ListedCall, LogSummary, UnfitUse } from "../../host/audit/verify/log-summary.ts";
import type { AuditReport } from "../../host/report/report.ts";
import type { OriginClass } from "../../shared/origin.ts";
import { busyLog } from "./log-samples.ts";
import { passingReport } from "./report-samples.ts";

/** Each leaves a trace when it runs: a property of the window, a console message, or a request. */
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

const sums = { written: 1, trashed: 0, removed: 0, granted: 0 };
const userCalls = { ...sums, calls: 1, failed: Number.NaN, denials: -1, refused: Number.POSITIVE_INFINITY };
const call = { ...sums, seq: 1, denials: 1, durationMs: Number.NaN };

/** Returns the payloads in turn, again and again. */
function teller(): () => string {
  let at = 0;
  return () => payloads[at++ % payloads.length] ?? "";
}

export function hostileReport(): AuditReport {
  const next = teller();
  const report = passingReport();
  const { artifact } = report;
  const tools = payloads.map((name) => ({
    name,
    audience: "model" as const,
    rights: ["read" as const],
    scopes: [next(), next()],
    allowed: { rights: [], scopes: [next()], audience: "host" as const },
    callers: "nobody" as const,
  }));
  return {
    ...report,
    verdict: "FAIL",
    deviations: payloads.map((text) => ({ about: "file", text })),
    artifact: {
      ...artifact,
      file: payloads[1] ?? "",
      sha256: next(),
      imports: payloads.map((name, at) => ({
        module: next(),
        name,
        signature: next(),
        meaning: at % 2 === 0 ? null : next(),
        right: null,
      })),
      exports: payloads.map((name) => ({ name, kind: next(), signature: next() })),
      customSections: payloads.map((name) => ({ name, bytes: 1 })),
      manifest: artifact.manifest && {
        ...artifact.manifest,
        name: next(),
        version: next(),
        instructions: next(),
        errors: payloads.map((meaning) => ({ code: next(), of: "NAME_CONFLICT", meaning })),
        tools: artifact.manifest.tools.flatMap((tool) =>
          payloads.map((name) => ({ ...tool, name, export: name, description: next() })),
        ),
      },
      deviations: payloads,
    },
    policy: { name: payloads[0] ?? "", sha256: next(), pins: payloads },
    tools,
    dependencies: payloads.map((name) => ({ name, version: next(), licence: next() })),
  };
}

/** A file that passes, of which the policy takes something away. */
export function hostileNarrowing(): AuditReport {
  return { ...passingReport(), narrowings: payloads };
}

/** The same text in every place, so that each row has what it can do. */
const originOf = (text: string): ListedCall["origin"] => ({
  class: text as OriginClass,
  run: text,
  turn: text,
  source: text,
  exposedTo: [text as OriginClass],
});

export function hostileLog(): LogSummary {
  const next = teller();
  const log = busyLog();
  return {
    ...log,
    firstTime: next(),
    lastTime: next(),
    tools: payloads.map((tool) => ({ tool, calls: 1, failed: 1, medianMs: 1, maxMs: Number.NaN })),
    callsByUser: payloads.map((userId) => ({ ...userCalls, userId, firstTime: next(), lastTime: next() })),
    latestCalls: payloads.map((userId, at) => ({
      ...call,
      userId,
      time: next(),
      callId: next(),
      tool: next(),
      origin: originOf(payloads.at(at - 1) ?? ""),
      code: next(),
    })),
    unfitUses: payloads.map((path) => ({
      seq: 1,
      time: next(),
      callId: next(),
      userId: next(),
      tool: next(),
      capability: next() as UnfitUse["capability"],
      scope: next(),
      path,
      code: "CAPABILITY_DENIED",
    })),
    timeline: {
      bucketMs: 1,
      buckets: payloads.map((from) => ({ from, calls: 1, failed: Number.POSITIVE_INFINITY, denials: -1, refused: 2 })),
    },
    refused: payloads.length,
    refusals: payloads.map((reason) => ({ surface: next(), reason, times: 1, lastTime: next() })),
    verification: {
      ...log.verification,
      isIntact: false,
      head: { seq: 1, hash: next() },
      findings: payloads.map((text) => ({ kind: "altered", seq: 1, file: next(), line: 1, text })),
      notes: payloads,
    },
  };
}
