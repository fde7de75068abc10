import type { ListedCall, LogSummary } from "../../audit/verify/log-summary.ts";
import { facetsOf } from "./call-facets.ts";
import type { Facet } from "./call-facets.ts";
import { filterForm } from "./call-filter.ts";
import { changesShown } from "./changes.ts";
import { html } from "./markup.ts";
import type { Markup, Value } from "./markup.ts";
import { code, codes, counted, msShown, timeShown } from "./phrases.ts";
import { tableHead, text } from "./table.ts";
import { noUser } from "./users-section.ts";

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
