import type { LogSummary } from "../../audit/verify/log-summary.ts";
import { callsSection } from "./calls-section.ts";
import { denialsSection } from "./denials-section.ts";
import { html } from "./markup.ts";
import type { Markup } from "./markup.ts";
import { refusalsSection } from "./refusals-section.ts";
import { timelineSection } from "./timeline-section.ts";
import { verificationSection } from "./verification-section.ts";

/** What has happened, as an audit log tells it. */
export function logArticle(log: LogSummary): Markup {
  return html`<article id="log">
    <h2>Audit log</h2>
    ${verificationSection(log, "log-verification")}${callsSection(log, "log-calls")}${timelineSection(log, "log-timeline")}${denialsSection(log, "log-denials")}${refusalsSection(log, "log-refusals")}
  </article> `;
}
