import { createHash } from "node:crypto";

import type { LogSummary } from "../../audit/verify/log-summary.ts";
import type { AuditReport } from "../report.ts";
import { html, plain, styleElement } from "./markup.ts";
import type { Markup } from "./markup.ts";
import { styleSheet } from "./style-sheet.ts";
import { isPass } from "./verdict-section.ts";
import { isIntact } from "./verification-section.ts";

/** What the page is called, how it looks, and that it may load and run nothing. */
export function pageHead(reports: readonly AuditReport[], log: LogSummary | null): Markup {
  return html`<head>
    <meta charset="utf-8" />
    ${contentSecurityPolicy}
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="referrer" content="no-referrer" />
    <title>${title(reports, log)}</title>
    ${styleElement(styleSheet)}
  </head>`;
}

/** The style sheet is allowed by its hash, so that a style which got in otherwise does nothing either. */
const styleHash = createHash("sha256").update(styleSheet).digest("base64");
const contentSecurityPolicy = html`<meta
  http-equiv="Content-Security-Policy"
  content="default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'"
/>`;

function title(reports: readonly AuditReport[], log: LogSummary | null): Markup {
  const isGood = reports.every(isPass) && (log === null || isIntact(log.verification));
  const file = reports[0]?.artifact.file ?? "audit log";
  const more = reports.length > 1 ? html` and ${reports.length - 1} more` : null;
  return html`${isGood ? html`PASS` : html`FAIL`}: ${plain(file)}${more} – memcell audit`;
}
