import { pageLimits } from "../../../shared/limits.ts";
import type { AuditReport, Deviation } from "../report.ts";
import { html } from "./markup.ts";
import type { Markup } from "./markup.ts";
import { code, codes, counted } from "./phrases.ts";
import { section } from "./section.ts";
import { notShown } from "./table.ts";

/** A page says PASS only when nothing at all was found. */
export function isPass({ verdict, deviations }: AuditReport): boolean {
  return verdict === "PASS" && deviations.length === 0;
}

export function verdictSection(report: AuditReport, id: string): Markup {
  return section(id, html`Verdict`, isPass(report) ? passed(report) : failed(report));
}

function passed({ policy, tools }: AuditReport): Markup {
  const asked = [...new Set(tools.flatMap(({ rights }) => rights))];
  const scopes = [...new Set(tools.flatMap((tool) => tool.scopes))];
  const offered = tools.filter(({ audience }) => audience === "model").length;
  return html`<div class="verdict pass">
      <p class="word"><span aria-hidden="true">✓</span> PASS</p>
      <p>
        The file is exactly what its own manifest says, and no tool in it asks for more than the policy
        ${code(policy.name)} grants. A host with this policy loads it.
      </p>
    </div>
    <p>
      It holds ${counted(tools.length, html`tool`, html`tools`)}, of which a model can call ${offered}. Together they
      ask for ${codes(asked)} in the calling user’s ${scopes.length === 1 ? html`scope` : html`scopes`}
      ${codes(scopes)}, and can reach nothing else.
    </p>`;
}

function failed({ deviations, policy }: AuditReport): Markup {
  return html`<div class="verdict fail">
      <p class="word"><span aria-hidden="true">✕</span> FAIL</p>
      <p>
        ${counted(deviations.length, html`deviation`, html`deviations`)}. A host with the policy ${code(policy.name)}
        refuses this file, and runs nothing of it.
      </p>
    </div>
    <ol class="deviations">
      ${deviations.slice(0, pageLimits.rowsMax).map((each) => html`<li>${label(each)} ${each.text}</li> `)}
    </ol>
    ${notShown(deviations.length - pageLimits.rowsMax)}`;
}

function label({ about }: Deviation): Markup {
  return about === "file"
    ? html`<strong class="label">In the file</strong>`
    : html`<strong class="label">Against the policy</strong>`;
}
