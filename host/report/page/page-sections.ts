/** What a reviewer asks, in the order in which it is asked. */
import type { LogSummary } from "../../audit/verify/log-summary.ts";
import type { AuditReport } from "../report.ts";
import { callsBody, denialsBody, refusalsBody } from "./activity-sections.ts";
import type { Section } from "./article.ts";
import { capabilityBody } from "./capability-section.ts";
import { contentsBody, dependenciesBody } from "./contents-section.ts";
import { identityBody } from "./identity-section.ts";
import { absentBody, importsBody } from "./imports-section.ts";
import { limitsBody } from "./limits-section.ts";
import { html } from "./markup.ts";
import { timelineBody } from "./timeline-section.ts";
import { verdictBody } from "./verdict-section.ts";
import { verificationBody } from "./verification-section.ts";

/** Of a plugin file. */
export const pluginSections: readonly Section<AuditReport>[] = [
  { key: "verdict", title: html`Verdict`, body: verdictBody },
  { key: "identity", title: html`Identity`, body: identityBody },
  { key: "capabilities", title: html`Capabilities`, body: capabilityBody },
  { key: "imports", title: html`Imports`, body: importsBody },
  { key: "absent", title: html`What is not there`, body: absentBody },
  { key: "contents", title: html`Inside the file`, body: contentsBody },
  { key: "limits", title: html`Limits`, body: limitsBody },
  { key: "dependencies", title: html`Dependencies`, body: dependenciesBody },
];

/** Of an audit log. */
export const logSections: readonly Section<LogSummary>[] = [
  { key: "verification", title: html`Verification`, body: verificationBody },
  { key: "calls", title: html`Calls`, body: callsBody },
  { key: "timeline", title: html`Timeline`, body: timelineBody },
  { key: "denials", title: html`Denials`, body: denialsBody },
  { key: "refusals", title: html`Refused requests`, body: refusalsBody },
];
