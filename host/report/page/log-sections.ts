/**
 * The content of a log (calls, failed uses of capabilities, and requests that were refused before a call), and the
 * result of its verification.
 */
import type { LogFinding, LogVerification } from "../../audit/verify/findings.ts";
import type { LogSummary, UnfitUse } from "../../audit/verify/log-summary.ts";
import { html } from "./markup.ts";
import type { Markup, Value } from "./markup.ts";
import { bytesShown, code, counted, facts, hash, msShown, notShown, timeShown } from "./phrases.ts";
import { number, table, text } from "./table.ts";
import { verdictBox } from "./verdict.ts";

/** How often each tool was called, with failures and durations. */
export function toolsBody({ calls, failed, users, tools, toolsNotShown }: LogSummary, id: string): Value {
  if (calls === 0) return html`<p>The log has no calls.</p>`;
  const all = html`${counted(calls, html`call`, html`calls`)} by ${counted(users, html`user`, html`users`)}`;
  const made = table({
    id: `${id}-sums`,
    caption: html`${all}, of which ${failed} failed`,
    stacksAtRem: 44,
    columns: [text`Tool`, number`Calls`, number`Failed`, number`Median`, number`Longest`],
    rows: tools.map((each) => [
      each.tool === null ? html`no valid tool name` : code(each.tool),
      each.calls,
      each.failed,
      msShown(each.medianMs),
      msShown(each.maxMs),
    ]),
  });
  return [made, notShown(toolsNotShown)];
}

/** Capability uses that were denied, and those that failed otherwise. */
export function denialsBody({ denials, failedUses, unfitUses, unfitUsesNotShown }: LogSummary, id: string): Value {
  if (denials + failedUses + unfitUses.length === 0) {
    return html`<p>No capability use was denied, and none failed.</p>`;
  }
  const denied = counted(denials, html`capability use was denied`, html`capability uses were denied`);
  const none = html`<span class="quiet">none</span>`;
  const usesTable = table({
    id: `${id}-uses`,
    caption: html`${denied}, ${failedUses} failed otherwise. Times are UTC.`,
    stacksAtRem: 50,
    columns: [text`Time`, text`User`, text`Tool`, text`Asked for`, text`Refused with`],
    rows: unfitUses.map((use) => [
      timeShown(use.time),
      use.userId ?? none,
      use.tool === null ? none : code(use.tool),
      askedFor(use),
      use.code === "CAPABILITY_DENIED" ? html`<strong>${code(use.code)}</strong>` : code(use.code),
    ]),
  });
  return [usesTable, notShown(unfitUsesNotShown)];
}

function askedFor({ capability, scope, path }: UnfitUse): Markup {
  const inScope = scope === null ? null : html` in ${code(scope)}`;
  return html`${code(capability)}${inScope}${path === null ? null : html`: ${code(path)}`}`;
}

/** Refused requests by reason and surface. */
export function refusalsBody({ refused, refusals, refusedNotShown }: LogSummary, id: string): Value {
  if (refused === 0) return html`<p>No request was refused before it could call a tool.</p>`;
  const requests = counted(refused, html`request was refused`, html`requests were refused`);
  const kindsTable = table({
    id: `${id}-kinds`,
    caption: html`${requests} before any tool was called. Times are UTC.`,
    stacksAtRem: 44,
    columns: [text`Reason`, text`Surface`, text`Last`, number`Requests`],
    rows: refusals.map((each) => [code(each.reason), code(each.surface), timeShown(each.lastTime), each.times]),
  });
  return [
    kindsTable,
    refusedNotShown > 0 ? html`<p class="note">… and ${refusedNotShown} requests of other kinds.</p>` : null,
  ];
}

/** A log is intact only if there is no finding at all. */
export function isIntact({ isIntact: isCalledSo, findings, findingsNotShown }: LogVerification): boolean {
  return isCalledSo && findings.length === 0 && findingsNotShown === 0;
}

/** The result of the verification: whether the log can be trusted. */
export function verificationBody(log: LogSummary): Value {
  const { verification, firstTime, lastTime } = log;
  const { head, files, bytes } = verification;
  return [
    isIntact(verification) ? intact(verification) : broken(verification),
    notes(log),
    facts([
      [html`First record`, firstTime === null ? html`none` : html`${timeShown(firstTime)} UTC`],
      [html`Last record`, lastTime === null ? html`none` : html`${timeShown(lastTime)} UTC`],
      [html`Size`, html`${counted(files, html`file`, html`files`)}, ${bytesShown(bytes)}`],
      [
        html`The chain ends`,
        head === null
          ? html`nowhere: the log has no records`
          : html`with record ${head.seq} <span class="below">${hash(head.hash)}</span>`,
      ],
    ]),
  ];
}

function intact({ records, isEndKnown }: LogVerification): Markup {
  const unknown = html`Only the log itself says where it ends, so records removed from its end would not be noticed.`;
  const sentence = html`${counted(records, html`record`, html`records`)}, all present, in order and unchanged.
  ${isEndKnown ? null : unknown}`;
  return verdictBox("good", html`INTACT`, sentence);
}

function broken({ findings, findingsNotShown, records }: LogVerification): Markup {
  const count = counted(findings.length + findingsNotShown, html`finding`, html`findings`);
  const sentence = html`${count} in ${records} records. The rest of this page uses only the records that are present.`;
  const shown = findings.slice(0, shownMax);
  return html`${verdictBox("bad", html`NOT INTACT`, sentence)}
    <ol class="deviations">
      ${shown.map((each) => html`<li><strong class="label">${kinds[each.kind]}</strong> ${each.text}${whereFound(each)}</li> `)}
    </ol>
    ${notShown(findings.length - shown.length + findingsNotShown)}`;
}

/** Enough to show what happened; `memcell audit verify` lists all. */
const shownMax = 50;

const kinds: Readonly<Record<LogFinding["kind"], Markup>> = {
  removed: html`Removed`,
  altered: html`Altered`,
  unreadable: html`Unreadable`,
  displaced: html`Displaced`,
  torn: html`Torn`,
  head: html`End of the log`,
};

function whereFound({ file, line }: LogFinding): Markup | null {
  if (file === null) return null;
  return html` <span class="note">${code(file)}${line === null ? null : html`, line ${line}`}</span>`;
}

function notes({ lostRecords, verification }: LogSummary): Markup | null {
  const lost = counted(lostRecords, html`record`, html`records`);
  const items = [
    ...(lostRecords > 0 ? [html`${lost} could not be written while calls continued.`] : []),
    ...verification.notes,
  ];
  if (items.length === 0) return null;
  return html`<ul>
    ${items.map((each) => html`<li>${each}</li>`)}
  </ul>`;
}
