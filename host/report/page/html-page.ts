import type { LogSummary } from "../../audit/verify/log-summary.ts";
import type { AuditReport } from "../report.ts";
import { logArticle } from "./log-article.ts";
import { html } from "./markup.ts";
import type { Markup } from "./markup.ts";
import { pageHead } from "./page-head.ts";
import { counted } from "./phrases.ts";
import { reportArticle } from "./report-article.ts";
import { summary } from "./summary.ts";

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
  const articles = reports.map((report, at) => reportArticle(report, `p${at + 1}`));
  return html`<!doctype html>
    <html lang="en-GB">
      ${pageHead(reports, log)}
      <body>
        <header>
          <h1>memcell audit</h1>
          <p>${subject(reports, log)}</p>
        </header>
        <main>${summary(reports, log)}${articles}${log === null ? null : logArticle(log)}</main>
        <footer>
          <p>
            Told from the bytes of the file alone: nothing of it was run. This page loads nothing and runs nothing. Text
            that came from the plugin, the policy or the log is shown with its hidden characters written out.
          </p>
        </footer>
      </body>
    </html> `.toString();
}

function subject(reports: readonly AuditReport[], log: LogSummary | null): Markup {
  if (reports.length === 0) return html`A report on an audit log`;
  const plugins = counted(reports.length, html`plugin file`, html`plugin files`);
  return log === null ? html`A report on ${plugins}` : html`A report on ${plugins} and an audit log`;
}
