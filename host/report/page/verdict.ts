import { pageLimits } from "../../../shared/limits.ts";
import { code, counted } from "../../markup/elements.ts";
import { html } from "../../markup/markup.ts";
import type { Markup } from "../../markup/markup.ts";
import type { AuditReport } from "../report.ts";
import { codes, notShown } from "./phrases.ts";

const marks = { good: html`<span aria-hidden="true">✓</span>`, bad: html`<span aria-hidden="true">✕</span>` };

/** A verdict in a line. It has a mark and a word, so it does not depend on colour alone. */
export function verdictWord(isGood: boolean, [good, bad]: readonly [good: Markup, bad: Markup]): Markup {
  if (isGood) return html`<strong class="good">${marks.good} ${good}</strong>`;
  return html`<strong class="bad">${marks.bad} ${bad}</strong>`;
}

/** A verdict in a box, with a sentence. */
export function verdictBox(kind: "good" | "bad", word: Markup, sentence: Markup): Markup {
  return html`<div class="verdict ${kind === "good" ? "pass" : "fail"}">
    <p class="word">${marks[kind]} ${word}</p>
    <p>${sentence}</p>
  </div>`;
}

/** A page says PASS only if there is no deviation at all. */
export function isPass({ verdict, deviations }: AuditReport): boolean {
  return verdict === "PASS" && deviations.length === 0;
}

export function verdictBody(report: AuditReport): Markup {
  return isPass(report) ? passed(report) : failed(report);
}

function passed({ policy, tools, narrowings }: AuditReport): Markup {
  const left = tools.filter(({ callers }) => callers !== "nobody");
  const asked = [...new Set(left.flatMap(({ rights }) => rights))];
  const scopes = [...new Set(left.flatMap((tool) => tool.scopes))];
  const offered = left.filter(({ callers }) => callers === "models").length;
  const sentence =
    narrowings.length === 0
      ? html`The file matches its manifest, and no tool in it asks for more than the policy ${code(policy.name)} grants.
        A host with this policy loads it.`
      : html`The file matches its manifest. A host with the policy ${code(policy.name)} uses it without what the policy
        does not grant.`;
  const available = left.length < tools.length ? html`, of which ${left.length} can be called` : null;
  return html`${verdictBox("good", html`PASS`, sentence)} ${takenAway(narrowings)}
    <p>
      It has ${counted(tools.length, html`tool`, html`tools`)}${available}, of which a model can call ${offered}.
      Together they ask for ${codes(asked)} in the calling user’s ${scopes.length === 1 ? html`scope` : html`scopes`}
      ${codes(scopes)}, and can reach nothing else.
    </p>`;
}

/** What the policy takes away, in the words of the runtime's log. */
function takenAway(narrowings: AuditReport["narrowings"]): Markup | null {
  if (narrowings.length === 0) return null;
  const shown = narrowings.slice(0, pageLimits.rowsMax).map((text) => html`<li>${text}</li> `);
  return html`<p>The policy takes away:</p>
    <ul>
      ${shown}
    </ul>
    ${notShown(narrowings.length - shown.length)}`;
}

function failed({ deviations, policy }: AuditReport): Markup {
  const count = counted(deviations.length, html`deviation`, html`deviations`);
  const sentence = html`${count}. A host with the policy ${code(policy.name)} refuses this file and does not run it.`;
  const shown = deviations.slice(0, pageLimits.rowsMax).map(({ about, text }) => {
    const label = about === "file" ? html`In the file` : html`Against the policy`;
    return html`<li><strong class="label">${label}</strong> ${text}</li> `;
  });
  return html`${verdictBox("bad", html`FAIL`, sentence)}
    <ol class="deviations">
      ${shown}
    </ol>
    ${notShown(deviations.length - shown.length)}`;
}
