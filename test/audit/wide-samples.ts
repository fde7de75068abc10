/** What is long in real life: names, hashes, paths and user ids of many kinds, in all plugins and in a log. */
import { readFileSync } from "node:fs";

import type { ListedCall, LogSummary, UserCalls } from "../../host/audit/verify/log-summary.ts";
import { readArtifact } from "../../host/plugins/artifact/read-artifact.ts";
import { loadPolicy } from "../../host/plugins/policy/load-policy.ts";
import { makeReport } from "../../host/report/make-report.ts";
import type { AuditReport } from "../../host/report/report.ts";
import { shippedNames, shippedPlugin } from "../support/test-plugin.ts";
import { busyLog } from "./log-samples.ts";

const hash = "0c27391d914dc472d3cbb1bbeabafe09d239e881bd0cbef022223379f64da0cc";
const policy = await loadPolicy(undefined);

export const longToolNames: readonly string[] = [
  "SearchTheCompleteHistoryOfEveryRunThatTheCallingUserHasStarted1",
  "search_the_complete_history_of_every_run_that_a_user_has_started",
  "tool".repeat(16),
];

export const longUserIds: readonly string[] = [
  "8f14e45f-ceea-467f-a8b1-52a0f3f1c6aa",
  "auth0|5f7c8ec7c33c6c004bbafe82",
  "arn:aws:sts::123456789012:assumed-role/production-readonly-support-engineer/ann.example@example.com",
  "山田太郎",
  "株式会社サンプル営業部門第二課長補佐山田花子",
  "محمد عبد الله بن عبد المطلب الهاشمي القرشي",
  "מרים-אסתר-בת-שבע-רוזנברג-כהן",
  "ann",
  hash,
  "x".repeat(255),
];

const path = "../../somebody-else@example.com/memory/the-secret-plans-for-the-next-quarter-of-the-year.md";

/** Every shipped plugin, and one with long names that the policy refuses. */
export function wideReports(): AuditReport[] {
  const reports = shippedNames().map((name) => {
    const artifact = readArtifact(readFileSync(shippedPlugin(name)), `${name}.wasm`);
    return makeReport({ artifact, policy, dependencies: null });
  });
  return [...reports, ...reports.slice(0, 1).map(longNamed)];
}

function longNamed(report: AuditReport): AuditReport {
  const { artifact, tools } = report;
  return {
    ...report,
    verdict: "FAIL",
    deviations: [
      { about: "file", text: `Its SHA-256 is ${artifact.sha256}, the policy pins "${longToolNames[1]}" to ${hash}.` },
      { about: "policy", text: `Its tool "${longToolNames[0]}" asks for the scope "a-scope-with-a-rather-long-name".` },
    ],
    artifact: {
      ...artifact,
      file: "the-long-name-of-a-plugin-file-version-12.34.5678.wasm",
      exports: [
        ...artifact.exports,
        { name: longToolNames[1] ?? "", kind: "function", signature: "i32,i32,i32,i32->i64" },
      ],
      imports: [
        ...artifact.imports,
        {
          module: "wasi_snapshot_preview1",
          name: "path_filestat_set_times_of_everything",
          signature: "i32,i32,i32,i32,i64,i64,i32->i32",
          meaning: null,
          right: null,
        },
      ],
    },
    policy: { name: "/etc/memcell/policies/production/eu-central-1/policy.json", sha256: hash, pins: [hash, hash] },
    tools: tools.map((tool, at) =>
      Object.assign({}, tool, {
        name: longToolNames[at] ?? tool.name,
        scopes: ["memory", "a-scope-with-a-rather-long-name"],
        allowed: at === 0 ? null : tool.allowed,
      }),
    ),
    dependencies: [
      {
        name: "@a-long-organisation/with-a-package-of-a-long-name",
        version: "12.34.5678-rc.90",
        licence: "Apache-2.0 WITH LLVM-exception",
      },
    ],
  };
}

export function wideLog(): LogSummary {
  const log = busyLog();
  return {
    ...log,
    tools: longToolNames.map((tool) => ({ tool, calls: 6_120_000, failed: 18_000, medianMs: 1.31, maxMs: 1_234_567 })),
    callsByUser: longUserIds.map((userId, at) => ({ ...sums, userId, granted: at % 2 })),
    latestCalls: longUserIds.flatMap((userId, at) => [callOf(userId, at), callOf(userId, at + 1)]),
    unfitUses: longUserIds.map((userId, at) => ({
      seq: at,
      time: "2026-03-02T06:00:03.104Z",
      callId: "0182ba10-7a5e-4b1e-9f41-000000000005",
      userId,
      tool: longToolNames[at % 3] ?? null,
      capability: "store_write",
      scope: "a-scope-with-a-rather-long-name",
      path,
      code: "CAPABILITY_DENIED",
    })),
    refusals: [
      {
        surface: "http",
        reason: "the-token-was-signed-with-a-key-that-nobody-knows",
        times: 1_000_000,
        lastTime: "2026-03-02T06:00:03.104Z",
      },
    ],
    verification: {
      ...log.verification,
      findings: [
        {
          kind: "removed",
          seq: 412,
          file: "the-audit-log-of-the-production-machine.000000000412.jsonl",
          line: 413_000,
          text: "between records 411 and 415, 3 records were removed",
        },
      ],
    },
  };
}

const sums: Omit<UserCalls, "userId"> = {
  calls: 1_234_567,
  failed: 12_345,
  denials: 1_234,
  refused: 123_456,
  written: 123_456,
  trashed: 1_234,
  removed: 12,
  granted: 0,
  firstTime: "2026-03-02T06:00:03.104Z",
  lastTime: "2026-03-03T05:58:41.870Z",
};

function callOf(userId: string, at: number): ListedCall {
  return {
    seq: 999_999_999_900 + at,
    time: "2026-03-02T06:00:03.104Z",
    callId: "0182ba10-7a5e-4b1e-9f41-000000000005",
    userId,
    tool: longToolNames[at % 3] ?? null,
    code: at % 2 === 0 ? "MEMORY_INVALID_TARGET_OF_A_PLUGIN" : null,
    denials: at % 3,
    written: at % 2 === 0 ? 0 : 1_000,
    trashed: at % 2 === 0 ? 0 : 12,
    removed: at % 2 === 0 ? 0 : 1,
    granted: at % 2,
    durationMs: 10_002.7,
  };
}
