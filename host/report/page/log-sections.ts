/**
 * The content of a log (calls, failed uses of capabilities, and requests that were refused before a call), and the
 * result of its verification.
 */
import type { LogSummary, UnfitUse, TimelineBucket } from "../../audit/verify/summarise-log.ts";
import type { BrokenLog, LogVerification } from "../../audit/verify/verify-log.ts";
import { code, counted, facts } from "../../markup/elements.ts";
import { html } from "../../markup/markup.ts";
import type { Markup, Value } from "../../markup/markup.ts";
import { bytesShown, hash, msShown, notShown, timeShown } from "./phrases.ts";
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

/** The result of the verification: whether the log can be trusted. */
export function verificationBody(log: LogSummary): Value {
  const { verification, firstTime, lastTime } = log;
  const { head, files, bytes } = verification;
  return [
    verification.broken === null ? intact(verification) : brokenAt(verification.broken, verification.records),
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

function brokenAt({ text: meaning, file, line }: BrokenLog, records: number): Markup {
  const sentence = html`The log has ${counted(records, html`record`, html`records`)}, and is broken. The rest of this
  page uses only the records that are present.`;
  const place = file === null ? null : html` <span class="note">${code(file)}, line ${line}</span>`;
  return html`${verdictBox("bad", html`NOT INTACT`, sentence)}
    <p><strong class="label">First broken link</strong> ${meaning}${place}</p>`;
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

/** The lanes of the timeline. The key also selects the style. */
const lanes = [
  { key: "calls", name: html`Calls` },
  { key: "failed", name: html`Failed calls` },
  { key: "denials", name: html`Denials` },
  { key: "refused", name: html`Refused requests` },
] as const;

/** Calls, denials and refused requests over time, as a picture and as a table. */
export function timelineBody({ timeline: { buckets, bucketMs } }: LogSummary, id: string): Value {
  const first = buckets[0];
  const last = buckets.at(-1);
  if (!first || !last) return html`<p>There is nothing to draw.</p>`;
  const drawn = lanes.map((each) => lane(each, `${id}-${each.key}`, buckets));
  const figures = table({
    id: `${id}-table`,
    caption: html`Calls, failed calls, denials and refused requests in spans of ${spanShown(bucketMs)}, without empty
    spans`,
    columns: [text`From`, number`Calls`, number`Failed`, number`Denials`, number`Refused`],
    rows: buckets
      .filter((bucket) => lanes.some(({ key }) => bucket[key] !== 0))
      .map(({ from, calls, failed, denials, refused }) => [timeShown(from), calls, failed, denials, refused]),
  });
  return html`<figure>
      <figcaption>Each bar is ${spanShown(bucketMs)}. Times are UTC.</figcaption>
      ${drawn}
      <p class="axis"><span>${timeShown(first.from)}</span> <span>${timeShown(endOf(last.from, bucketMs))}</span></p>
    </figure>
    <details>
      <summary>The timeline as a table</summary>
      ${figures}
    </details>`;
}

const height = 100;
/** Keeps a single denial among thousands visible. */
const heightMin = 4;

/**
 * A row of bars. Each row has its own scale and states its maximum: on the scale of 300 calls, three denials would be
 * invisible. The words are outside the picture, which is stretched to the page's width.
 */
function lane({ key, name }: (typeof lanes)[number], id: string, buckets: readonly TimelineBucket[]): Markup {
  const values = buckets.map((bucket) => (Number.isFinite(bucket[key]) ? Math.max(bucket[key], 0) : 0));
  const most = Math.max(...values);
  const total = values.reduce((sum, value) => sum + value, 0);
  const bars = values.map((value, at) => {
    if (value === 0) return null;
    const length = Math.max((value / most) * height, heightMin);
    return html`<rect x="${at + 0.1}" y="${tenths(height - length)}" width="0.8" height="${tenths(length)}" />`;
  });
  return html`<div class="lane ${key}">
    <p>
      <strong>${name}</strong>
      <span class="note">${total} in all, ${most === 0 ? html`no bar` : html`the highest bar is ${most}`}</span>
    </p>
    <svg
      role="img"
      aria-labelledby="${id}-name"
      aria-describedby="${id}-what"
      viewBox="0 0 ${values.length} ${height}"
      preserveAspectRatio="none"
    >
      <title id="${id}-name">${name}</title>
      <desc id="${id}-what">
        Bars over time: ${total} in all, ${most} in the busiest span. The table below has the figures.
      </desc>
      ${bars}
    </svg>
  </div> `;
}

const tenths = (value: number): number => Math.round(value * 10) / 10;

function endOf(from: string, bucketMs: number): string {
  const end = new Date(Date.parse(from) + bucketMs);
  return Number.isNaN(end.getTime()) ? from : end.toISOString();
}

/** In the largest unit that results in a whole number. */
function spanShown(ms: number): Markup {
  const unit = units.find(([unitMs]) => ms >= unitMs && ms % unitMs === 0);
  return unit ? counted(ms / unit[0], unit[1], unit[2]) : html`${ms} ms`;
}

const units = [
  [86_400_000, html`day`, html`days`],
  [3_600_000, html`hour`, html`hours`],
  [60_000, html`minute`, html`minutes`],
  [1_000, html`second`, html`seconds`],
] as const;
