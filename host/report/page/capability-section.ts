import { capabilityNames, capabilityRights, rights } from "../../../shared/abi.ts";
import type { Right } from "../../../shared/abi.ts";
import { pageLimits } from "../../../shared/limits.ts";
import type { ManifestTool } from "../../../shared/manifest.ts";
import { utf8Bytes } from "../../../shared/text.ts";
import type { AuditReport, ReportedTool } from "../report.ts";
import { codesTable } from "./codes-table.ts";
import { html } from "./markup.ts";
import type { Markup } from "./markup.ts";
import { code, unseenWords } from "./phrases.ts";
import { bytesShown } from "./quantities.ts";
import { rightMeanings } from "./right-meanings.ts";
import { facts, section } from "./section.ts";
import { notShown, table } from "./table.ts";

/** The table that a reviewer came for: each tool, each right, asked for and allowed. */
export function capabilitySection(report: AuditReport, id: string): Markup {
  if (report.tools.length === 0) {
    return section(
      id,
      html`Capabilities`,
      html`<p>No tool of this file is known: it has no manifest that can be read.</p>`,
    );
  }
  return section(id, html`Capabilities`, [
    matrix(report, id),
    legend,
    meanings(report, id),
    descriptions(report),
    codesTable(report, id),
  ]);
}

function matrix({ tools }: AuditReport, id: string): Markup {
  return table({
    id: `${id}-matrix`,
    caption: html`What each tool asks for, and what the policy allows it`,
    isWide: true,
    columns: [
      { head: html`Tool` },
      ...rights.map((right) => ({ head: html`${code(right)}`, kind: "mark" as const })),
      { head: html`Scopes` },
      { head: html`Called by` },
    ],
    rows: tools.map((tool) => [
      toolName(tool),
      ...rights.map((right) => rightMark(tool, right)),
      scopeMarks(tool),
      audienceMark(tool),
    ]),
  });
}

function toolName({ name, allowed }: ReportedTool): Markup {
  if (allowed !== null) return code(name);
  return html`${code(name)} <span class="bad note below">✕ not named by the policy</span>`;
}

function rightMark({ rights: asked, allowed }: ReportedTool, right: Right): Markup {
  return mark(asked.includes(right), allowed?.rights.includes(right) ?? false);
}

/** Every state has a shape and words of its own, so none is told by colour alone. */
function mark(isAsked: boolean, isAllowed: boolean): Markup {
  if (isAsked && isAllowed) return html`<span aria-hidden="true">●</span>${unseenWords(html`asked for and allowed`)}`;
  if (isAsked)
    return html`<strong class="bad"
      ><span aria-hidden="true">✕</span>${unseenWords(html`asked for, not allowed`)}</strong
    >`;
  if (isAllowed) return html`<span aria-hidden="true">○</span>${unseenWords(html`allowed, not asked for`)}`;
  return html`<span aria-hidden="true" class="quiet">–</span>${unseenWords(html`neither`)}`;
}

function scopeMarks({ scopes: asked, allowed }: ReportedTool): Markup {
  const all = [...new Set([...asked, ...(allowed?.scopes ?? [])])];
  if (all.length === 0) return html`none`;
  const shown = all.map((scope) => {
    const isAllowed = allowed?.scopes.includes(scope) ?? false;
    return html`<span class="scope">${mark(asked.includes(scope), isAllowed)}&nbsp;${code(scope)}</span>`;
  });
  return html`${shown}`;
}

/** The host may call every tool; to be offered to models is asked for, and allowed or not, as a right is. */
function audienceMark({ audience, allowed }: ReportedTool): Markup {
  const isAsked = audience === "model";
  const isAllowed = allowed?.audience === "model";
  if (isAsked && isAllowed) return html`the&nbsp;model`;
  if (!isAsked && !isAllowed) return html`the&nbsp;host`;
  const model = html`<span class="scope">${mark(isAsked, isAllowed)}&nbsp;the&nbsp;model</span>`;
  return isAsked ? model : html`the&nbsp;host, ${model}`;
}

const legend = html`<p class="note legend" aria-hidden="true">
  <span>● asked for and allowed</span> <span>○ allowed, not asked for</span>
  <span class="bad">✕ asked for, not allowed</span> <span>– neither</span>
</p>`;

function meanings({ tools }: AuditReport, id: string): Markup {
  return table({
    id: `${id}-rights`,
    caption: html`What each right means`,
    columns: [{ head: html`Right` }, { head: html`It lets a tool` }, { head: html`Tools`, kind: "number" }],
    rows: rights.map((right) => [
      code(right),
      html`${rightMeanings[right]} <span class="note">By ${capabilitiesOf(right)}.</span>`,
      tools.filter((tool) => tool.rights.includes(right)).length,
    ]),
  });
}

function capabilitiesOf(right: Right): Markup {
  const names = capabilityNames.filter((name) => capabilityRights[name] === right);
  return html`${names.map((name) => code(name))}`;
}

function descriptions({ artifact: { manifest } }: AuditReport): Markup | null {
  if (!manifest) return null;
  return html`<h4>What the file says of each tool; a model is told this of those that it can call</h4>
    ${facts(manifest.tools.slice(0, pageLimits.rowsMax).map((tool) => [code(tool.name), wordsOf(tool)]))}
    ${notShown(manifest.tools.length - pageLimits.rowsMax)}`;
}

/** A page is too long for a report: who reviews it reads it where nothing of it is left out. */
function wordsOf({ description, documentation }: ManifestTool): Markup {
  if (documentation === undefined) return html`${description}`;
  const bytes = bytesShown(utf8Bytes(documentation));
  return html`${description} <span class="note">It also has a page of ${bytes}, which the report in JSON holds.</span>`;
}
