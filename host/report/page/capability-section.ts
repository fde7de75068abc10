import { capabilityNames, capabilityRights } from "../../../shared/abi.ts";
import type { Right } from "../../../shared/abi.ts";
import { storesMeaning } from "../../../shared/import-meanings.ts";
import { pageLimits } from "../../../shared/limits.ts";
import type { ManifestTool } from "../../../shared/manifest.ts";
import { utf8Bytes } from "../../../shared/text.ts";
import { modelGranting, reachesStores, rightGranting, scopeGrantings, shownRights } from "../report.ts";
import type { AuditReport, Granting, ReportedTool } from "../report.ts";
import { html } from "./markup.ts";
import type { Markup, Value } from "./markup.ts";
import { bytesShown, code, facts, notShown } from "./phrases.ts";
import { markOf, number, table, text } from "./table.ts";

/** Each tool's rights, their meaning, and what the file says about itself, its tools and errors. */
export function capabilityBody(report: AuditReport, id: string): Value {
  if (report.tools.length === 0) {
    return html`<p>The tools of this file are unknown: it has no readable manifest.</p>`;
  }
  return [
    capabilityMatrix(report.tools, id),
    meaningsTable(report, id),
    reachesStores(report.tools) ? html`<p>Of these scopes, ${storesMeaning}.</p>` : null,
    instructions(report),
    descriptions(report),
    codesTable(report, id),
  ];
}

/** The meaning of each right, for a reader who does not know the ABI. */
const meanings: Readonly<Record<Right, Markup>> = {
  read: html`Read the text of a file in the tool’s scopes, by a path inside them.`,
  list: html`See which files are in those scopes, and how large each is.`,
  write: html`Create or replace a file there. Changes take effect only when the whole call succeeds.`,
  trash: html`Move a file there into the scope’s own <code>trash/</code>. No tool can destroy what is in it.`,
  clock: html`Get the time at which the call began. It does not change during the call, so it cannot measure anything.`,
  search: html`Read and list stores that others have shared with the user for searching only.`,
  grant_list: html`See which shared stores the user reaches, and who has been granted access to the user’s own.`,
  grant_set: html`Grant others access to the user’s own store, or revoke it. A model can use it only if the program that
  runs the host allows that.`,
};

function meaningsTable({ tools }: AuditReport, id: string): Markup {
  return table({
    id: `${id}-rights`,
    caption: html`What each right means`,
    columns: [text`Right`, text`It lets a tool`, number`Tools`],
    rows: shownRights(tools).map((right) => {
      const names = capabilityNames.filter((name) => capabilityRights[name] === right);
      return [
        code(right),
        html`${meanings[right]}
        ${names.length > 0 ? html`<span class="note">By ${names.map((name) => code(name))}.</span>` : null}`,
        tools.filter((tool) => tool.rights.includes(right)).length,
      ];
    }),
  });
}

function instructions({ artifact: { manifest } }: AuditReport): Markup | null {
  if (manifest?.instructions === undefined) return null;
  return html`<h4>What the file tells models about itself</h4>
    <p>${manifest.instructions}</p>`;
}

function descriptions({ artifact: { manifest } }: AuditReport): Markup | null {
  if (!manifest) return null;
  return html`<h4>The file’s description of each tool; a model gets it for the tools that it can call</h4>
    ${facts(manifest.tools.slice(0, pageLimits.rowsMax).map((tool) => [code(tool.name), wordsOf(tool)]))}
    ${notShown(manifest.tools.length - pageLimits.rowsMax)}`;
}

/** A tool's documentation page is too long for this report. The JSON report has it in full. */
function wordsOf({ description, documentation }: ManifestTool): Markup {
  if (documentation === undefined) return html`${description}`;
  const bytes = bytesShown(utf8Bytes(documentation));
  return html`${description} <span class="note">It also has a page of ${bytes}, which is in the JSON report.</span>`;
}

/** The error codes that the plugin adds to those of every plugin; `null` if it adds none. */
function codesTable({ artifact: { manifest } }: AuditReport, id: string): Markup | null {
  const errors = manifest?.errors ?? [];
  if (errors.length === 0) return null;
  return table({
    id: `${id}-codes`,
    caption: html`The plugin’s own error codes, with the meanings that a model gets`,
    columns: [text`Code`, text`A case of`, text`Meaning`],
    rows: errors.map((error) => [code(error.code), code(error.of), error.meaning]),
  });
}

/** A table of tools and rights, asked for and allowed, with a legend. */
function capabilityMatrix(tools: readonly ReportedTool[], id: string): Value {
  const shown = shownRights(tools);
  const matrix = table({
    id: `${id}-matrix`,
    caption: html`What each tool asks for, and what the policy allows it`,
    stacksAtRem: shown.length > 5 ? 50 : 44,
    columns: [text`Tool`, ...shown.map((right) => markOf(right)), text`Scopes`, text`Called by`],
    rows: tools.map((tool) => [
      toolName(tool),
      ...shown.map((right) => marks[rightGranting(tool, right)]),
      scopeMarks(tool),
      callerMark(tool),
    ]),
  });
  return [matrix, legend];
}

/** Every state has its own shape and words, so none depends on colour alone. The words are for screen readers. */
const marks: Readonly<Record<Granting, Markup>> = {
  granted: html`<span aria-hidden="true">●</span><span class="spoken">asked for and allowed</span>`,
  refused: html`<strong class="bad"
    ><span aria-hidden="true">✕</span><span class="spoken">asked for, not allowed</span></strong
  >`,
  spare: html`<span aria-hidden="true">○</span><span class="spoken">allowed, not asked for</span>`,
  neither: html`<span aria-hidden="true" class="quiet">–</span><span class="spoken">neither</span>`,
};

const legend = html`<p class="note legend" aria-hidden="true">
  <span>● asked for and allowed</span> <span>○ allowed, not asked for</span>
  <span class="bad">✕ asked for, not allowed</span> <span>– neither</span>
</p>`;

function toolName({ name, allowed }: ReportedTool): Markup {
  if (allowed !== null) return code(name);
  return html`${code(name)} <span class="bad note below">✕ not named by the policy</span>`;
}

function scopeMarks(tool: ReportedTool): Markup {
  const shown = scopeGrantings(tool).map(
    ({ scope, granting }) => html`<span class="scope">${marks[granting]}&nbsp;${code(scope)}</span>`,
  );
  return shown.length === 0 ? html`none` : html`${shown}`;
}

function callerMark(tool: ReportedTool): Markup {
  const granting = modelGranting(tool);
  if (granting === "granted") return html`the&nbsp;model`;
  if (granting === "neither") return html`the&nbsp;host`;
  const model = html`<span class="scope">${marks[granting]}&nbsp;the&nbsp;model</span>`;
  return granting === "refused" ? model : html`the&nbsp;host, ${model}`;
}
