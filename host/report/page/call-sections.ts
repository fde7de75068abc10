import type { ListedCall, LogSummary, Changes } from "../../audit/verify/log-summary.ts";
import { facetsOf } from "./call-facets.ts";
import type { Facet } from "./call-facets.ts";
import { filterForm } from "./call-filter.ts";
import { html } from "./markup.ts";
import type { Markup, Value } from "./markup.ts";
import { code, codes, counted, msShown, timeShown, notShown } from "./phrases.ts";
import { tableHead, text, number, table } from "./table.ts";

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
