import type { LogSummary, TimelineBucket } from "../../audit/verify/log-summary.ts";
import { html } from "./markup.ts";
import type { Markup, Value } from "./markup.ts";
import { counted, timeShown } from "./phrases.ts";
import { number, table, text } from "./table.ts";

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
