import { rights } from "../../../shared/abi.ts";
import { modelGranting, rightGranting, scopeGrantings } from "../granting.ts";
import type { Granting } from "../granting.ts";
import type { ReportedTool } from "../report.ts";
import { html } from "./markup.ts";
import type { Markup, Value } from "./markup.ts";
import { code } from "./phrases.ts";
import { mark, table, text } from "./table.ts";

/** Each tool, each right: asked for and allowed. With what the marks mean. */
export function capabilityMatrix(tools: readonly ReportedTool[], id: string): Value {
  const matrix = table({
    id: `${id}-matrix`,
    caption: html`What each tool asks for, and what the policy allows it`,
    isWide: true,
    columns: [text`Tool`, ...rights.map((right) => mark`${code(right)}`), text`Scopes`, text`Called by`],
    rows: tools.map((tool) => [
      toolName(tool),
      ...rights.map((right) => marks[rightGranting(tool, right)]),
      scopeMarks(tool),
      callerMark(tool),
    ]),
  });
  return [matrix, legend];
}

/** Every state has a shape and words of its own, so none is told by colour alone. The words are for those who listen. */
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
