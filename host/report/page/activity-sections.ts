/** What a log says has happened: calls, uses of capabilities that failed, and requests that were refused before a call. */
import type { LogSummary, UnfitUse } from "../../audit/verify/log-summary.ts";
import { html } from "./markup.ts";
import type { Markup, Value } from "./markup.ts";
import { code, counted, msShown, timeShown } from "./phrases.ts";
import { notShown, number, table, text } from "./table.ts";

/** How often each tool was called, and what became of it. */
export function callsBody({ calls, failed, users, tools, toolsNotShown }: LogSummary, id: string): Value {
  if (calls === 0) return html`<p>The log knows of no call.</p>`;
  const all = html`${counted(calls, html`call`, html`calls`)} by ${counted(users, html`user`, html`users`)}`;
  const toolsTable = table({
    id: `${id}-tools`,
    caption: html`${all}, of which ${failed} failed`,
    isWide: true,
    columns: [text`Tool`, number`Calls`, number`Failed`, number`Median`, number`Longest`],
    rows: tools.map((each) => [
      each.tool === null ? html`no tool’s name` : code(each.tool),
      each.calls,
      each.failed,
      msShown(each.medianMs),
      msShown(each.maxMs),
    ]),
  });
  return [toolsTable, notShown(toolsNotShown)];
}

/** Who asked for what without a right to it, and what failed on the way to the disk. */
export function denialsBody({ denials, failedUses, unfitUses, unfitUsesNotShown }: LogSummary, id: string): Value {
  if (denials + failedUses + unfitUses.length === 0) {
    return html`<p>No capability use was denied, and none failed.</p>`;
  }
  const denied = counted(denials, html`capability use was denied`, html`capability uses were denied`);
  const none = html`<span class="quiet">none</span>`;
  const usesTable = table({
    id: `${id}-uses`,
    caption: html`${denied}, ${failedUses} failed otherwise. Times are UTC.`,
    isWide: true,
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

/** By where it was asked, and why it was refused. */
export function refusalsBody({ refused, refusals, refusedNotShown }: LogSummary, id: string): Value {
  if (refused === 0) return html`<p>No request was refused before it could call a tool.</p>`;
  const requests = counted(refused, html`request was refused`, html`requests were refused`);
  const kindsTable = table({
    id: `${id}-kinds`,
    caption: html`${requests} before any tool was called. Times are UTC.`,
    isWide: true,
    columns: [text`Reason`, text`Asked at`, text`Last`, number`Requests`],
    rows: refusals.map((each) => [code(each.reason), code(each.surface), timeShown(each.lastTime), each.times]),
  });
  return [
    kindsTable,
    refusedNotShown > 0 ? html`<p class="note">… and ${refusedNotShown} requests of other kinds.</p>` : null,
  ];
}
