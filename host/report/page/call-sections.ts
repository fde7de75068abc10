import { capabilityNames, capabilityRights } from "../../../shared/abi.ts";
import type { Right } from "../../../shared/abi.ts";
import { storesMeaning } from "../../../shared/import-meanings.ts";
import { pageLimits } from "../../../shared/limits.ts";
import type { ManifestTool } from "../../../shared/manifest.ts";
import { utf8Bytes } from "../../../shared/text.ts";
import type { Changes, ListedCall, LogSummary } from "../../audit/verify/summarise-log.ts";
import { code, counted, facts } from "../../markup/elements.ts";
import { html } from "../../markup/markup.ts";
import type { Markup, Value } from "../../markup/markup.ts";
import { modelGranting, reachesStores, rightGranting, scopeGrantings, shownRights } from "../report.ts";
import type { AuditReport, Granting, ReportedTool } from "../report.ts";
import { facetsOf } from "./call-facets.ts";
import type { Facet } from "./call-facets.ts";
import { filterForm } from "./call-filter.ts";
import { bytesShown, codes, msShown, notShown, timeShown } from "./phrases.ts";
import { markOf, number, table, tableHead, text } from "./table.ts";

/** The calls of the log one by one, with a filter. */
export function callsBody({ latestCalls, callsNotShown }: LogSummary): Value {
  if (latestCalls.length === 0) return html`<p>The log has no calls.</p>`;
  const facets = facetsOf(latestCalls);
  return html`${leftOut(callsNotShown)}
    <div class="calls">
      ${filterForm(facets)}
      <table>
        <caption>
          The calls in the order of the log. Times are UTC.
        </caption>
        ${tableHead(columns)}
        <tbody>
          ${latestCalls.map((call) => row(call, facets))}
        </tbody>
      </table>
      <p class="count" role="status">of ${String(latestCalls.length)} calls shown</p>
      <p class="note paper">On paper, only those that failed or were denied a capability, unless others were chosen.</p>
    </div>`;
}

function leftOut(count: number): Markup | null {
  if (count === 0) return null;
  return html`<p>
    ${counted(count, html`earlier call is`, html`earlier calls are`)} not listed: all but the latest that failed or were
    denied a capability.
  </p>`;
}

/** Their labels on a narrow screen are in the style sheet, because the list is long. */
const columns = [text`Record`, text`Time`, text`User`, text`Tool`, text`Outcome`, text`Changed`, text`Took`];

function row(call: ListedCall, facets: readonly Facet[]): Markup {
  const { seq, time, userId, tool, durationMs } = call;
  const classes = facets.flatMap(({ classesOf }) => classesOf(call)).join(" ");
  const cells = [
    timeShown(time),
    userId ?? noUser,
    html`${tool === null ? html`<span class="quiet">no valid tool name</span>` : code(tool)}${originShown(call)}`,
    outcomeShown(call),
    changesShown(call) ?? html`nothing`,
    msShown(durationMs),
  ].map((cell) => html`<td>${cell}</td>`);
  return html`<tr class="${classes}">
    <th scope="row">${seq}</th>
    ${cells}
  </tr> `;
}

function outcomeShown({ code: failure, denials, callId }: ListedCall): Markup {
  if (failure === null && denials === 0) return html`succeeded`;
  const ended = failure === null ? html`succeeded` : html`<span class="bad">✕&nbsp;${code(failure)}</span>`;
  const denied = denials > 0 ? html`<span class="bad">${counted(denials, html`denial`, html`denials`)}</span>, ` : null;
  return html`${ended}<span class="note below">${denied}call ${code(callId)}</span>`;
}

/** Where the text comes from with which the tool was called. As narrow as a tool's name: code, without punctuation. */
function originShown({ origin }: ListedCall): Markup | null {
  if (origin === undefined) return null;
  const { class: of, run, turn, source, exposedTo } = origin;
  const inRun = run === undefined ? null : html`run ${code(run)} `;
  const inTurn = turn === undefined ? null : html`turn ${code(turn)}`;
  const lines = [
    html`from ${code(of)}${source === undefined ? null : html` ${code(source)}`}`,
    inRun === null && inTurn === null ? null : html`${inRun}${inTurn}`,
    exposedTo === undefined ? null : html`exposed to ${codes(exposedTo)}`,
  ];
  return html`${lines.map((line) => (line === null ? null : html`<span class="note below">${line}</span>`))}`;
}

/** What each user's calls came to. */
export function usersBody({ callsByUser, usersNotShown }: LogSummary, id: string): Value {
  if (callsByUser.length === 0) return html`<p>The log has no calls, and no requests were refused.</p>`;
  const users = counted(callsByUser.length + usersNotShown, html`user`, html`users`);
  const sums = table({
    id: `${id}-sums`,
    caption: html`${users}: those with denials or refused requests first, then those with failed calls. Times are UTC.`,
    stacksAtRem: 62,
    columns: [
      text`User`,
      number`Calls`,
      number`Failed`,
      number`Denials`,
      number`Refused`,
      text`Changed`,
      text`First`,
      text`Last`,
    ],
    rows: callsByUser.map((user) => [
      user.userId ?? noUser,
      user.calls,
      ...[user.failed, user.denials, user.refused].map(faultsShown),
      changesShown(user) ?? html`<span class="quiet">nothing</span>`,
      timeShown(user.firstTime),
      timeShown(user.lastTime),
    ]),
  });
  return [sums, notShown(usersNotShown)];
}

const noUser: Markup = html`<span class="quiet">no valid user id</span>`;

const faultsShown = (count: number): Markup =>
  count === 0 ? html`<span class="quiet">0</span>` : html`<strong>${count}</strong>`;

/** What calls have changed, in a few words; `null` for nothing. */
function changesShown({ written, trashed, removed, granted }: Changes): Markup | null {
  const parts = [
    written > 0 ? html`${written} written` : null,
    trashed > 0 ? html`${trashed} to trash` : null,
    removed > 0 ? html`${removed} removed` : null,
    granted > 0 ? counted(granted, html`grant`, html`grants`) : null,
  ].filter((part) => part !== null);
  if (parts.length === 0) return null;
  const last = parts.length - 1;
  return html`${parts.map((part, at) => html`<span class="whole">${part}${at < last ? html`,` : null}</span> `)}`;
}

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
