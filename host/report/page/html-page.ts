import { createHash } from "node:crypto";

import type { LogSummary } from "../../audit/verify/log-summary.ts";
import type { AuditReport } from "../report.ts";
import { article } from "./article.ts";
import { html, plain, styleElement } from "./markup.ts";
import type { Markup } from "./markup.ts";
import { logSections, pluginSections } from "./page-sections.ts";
import { code, counted } from "./phrases.ts";
import { printStyle } from "./style-print.ts";
import { screenStyle } from "./style-screen.ts";
import { tableStyle } from "./style-tables.ts";
import { isPass } from "./verdict-section.ts";
import { verdictWord } from "./verdict.ts";
import { isIntact } from "./verification-section.ts";

/**
 * What `memcell audit --html` writes: one file that loads nothing, runs nothing, prints, and can be kept.
 *
 * The same reports and log make the same bytes. `log` is `null` when no log was given. Everything in them may be
 * hostile: none of it is markup here, none becomes a link, and what cannot be seen is shown as the name of its character.
 * The file's own content security policy forbids everything but its one style sheet. The page may name users and paths of
 * the log: keep it as you keep the log.
 *
 * ```ts
 * await writeFile("audit.html", htmlPage([report], null));
 * ```
 */
export function htmlPage(reports: readonly AuditReport[], log: LogSummary | null): string {
  const articles = [
    ...reports.map((report, at) => article(`p${at + 1}`, report.artifact.file, report, pluginSections)),
    log && article("log", html`Audit log`, log, logSections),
  ];
  return html`<!doctype html>
    <html lang="en-GB">
      <head>
        <meta charset="utf-8" />
        ${contentSecurityPolicy}
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="referrer" content="no-referrer" />
        <title>${title(reports, log)}</title>
        ${styleElement(styleSheet)}
      </head>
      <body>
        <header>
          <h1>memcell audit</h1>
          <p>${subject(reports, log)}</p>
        </header>
        <main>${verdicts(reports, log)}${articles}</main>
        <footer>
          <p>
            Told from the bytes of the file alone: nothing of it was run. This page loads nothing and runs nothing. Text
            that came from the plugin, the policy or the log is shown with its hidden characters written out.
          </p>
        </footer>
      </body>
    </html> `.toString();
}

/** It names no font, picture or other file. */
const styleSheet = `${screenStyle}${tableStyle}${printStyle}`;

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

function subject(reports: readonly AuditReport[], log: LogSummary | null): Markup {
  if (reports.length === 0) return html`A report on an audit log`;
  const plugins = counted(reports.length, html`plugin file`, html`plugin files`);
  return log === null ? html`A report on ${plugins}` : html`A report on ${plugins} and an audit log`;
}

/** The verdicts at a glance, where there is more than one. */
function verdicts(reports: readonly AuditReport[], log: LogSummary | null): Markup | null {
  if (reports.length + (log === null ? 0 : 1) < 2) return null;
  const lines = reports.map((report, at) => {
    const word = verdictWord(isPass(report), [html`PASS`, html`FAIL`]);
    return html`<li>${word} <a href="#p${at + 1}">${code(report.artifact.file)}</a></li> `;
  });
  const ofLog = log && verdictWord(isIntact(log.verification), [html`INTACT`, html`NOT INTACT`]);
  return html`<nav aria-label="Verdicts">
    <ul class="summary">
      ${lines}${ofLog && html`<li>${ofLog} <a href="#log">Audit log</a></li> `}
    </ul>
  </nav> `;
}
