import type { AuditReport } from "../report.ts";
import { absentSection } from "./absent-section.ts";
import { capabilitySection } from "./capability-section.ts";
import { contentsSection } from "./contents-section.ts";
import { dependenciesSection } from "./dependencies-section.ts";
import { identitySection } from "./identity-section.ts";
import { importsSection } from "./imports-section.ts";
import { limitsSection } from "./limits-section.ts";
import { html } from "./markup.ts";
import type { Markup } from "./markup.ts";
import { verdictSection } from "./verdict-section.ts";

/** What a reviewer asks of a plugin file, in the order in which it is asked. */
const sections = [
  { key: "verdict", make: verdictSection },
  { key: "identity", make: identitySection },
  { key: "capabilities", make: capabilitySection },
  { key: "imports", make: importsSection },
  { key: "absent", make: absentSection },
  { key: "contents", make: contentsSection },
  { key: "limits", make: limitsSection },
  { key: "dependencies", make: dependenciesSection },
] as const;

export function reportArticle(report: AuditReport, id: string): Markup {
  return html`<article id="${id}">
    <h2>${report.artifact.file}</h2>
    ${sections.map(({ key, make }) => make(report, `${id}-${key}`))}
  </article> `;
}
