import type { LogSummary } from "../../audit/verify/log-summary.ts";
import type { AuditReport } from "../report.ts";
import { html } from "./markup.ts";
import type { Markup } from "./markup.ts";
import { code } from "./phrases.ts";
import { isPass } from "./verdict-section.ts";
import { isIntact } from "./verification-section.ts";

/** The verdicts at a glance, where there is more than one. */
export function summary(reports: readonly AuditReport[], log: LogSummary | null): Markup | null {
  if (reports.length + (log === null ? 0 : 1) < 2) return null;
  const lines = reports.map((report, at) => {
    const word = isPass(report) ? good(html`PASS`) : bad(html`FAIL`);
    return html`<li>${word} <a href="#p${at + 1}">${code(report.artifact.file)}</a></li> `;
  });
  const ofLog = log && (isIntact(log.verification) ? good(html`INTACT`) : bad(html`NOT INTACT`));
  return html`<nav aria-label="Verdicts">
    <ul class="summary">
      ${lines}${ofLog && html`<li>${ofLog} <a href="#log">Audit log</a></li> `}
    </ul>
  </nav> `;
}

function good(word: Markup): Markup {
  return html`<strong class="good"><span aria-hidden="true">✓</span> ${word}</strong>`;
}

function bad(word: Markup): Markup {
  return html`<strong class="bad"><span aria-hidden="true">✕</span> ${word}</strong>`;
}
