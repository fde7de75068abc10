import type { LogSummary } from "../../audit/verify/log-summary.ts";
import { html } from "./markup.ts";
import type { Markup } from "./markup.ts";
import { timeShown } from "./quantities.ts";
import { section } from "./section.ts";
import { table } from "./table.ts";
import { timelineLane } from "./timeline-lane.ts";

/** When it happened: calls, denials and refused requests over time, as a picture and as a table. */
export function timelineSection({ timeline }: LogSummary, id: string): Markup {
  const { buckets, bucketMs } = timeline;
  const first = buckets[0];
  const last = buckets.at(-1);
  if (!first || !last) return section(id, html`Timeline`, html`<p>There is nothing to draw.</p>`);
  const lanes = [
    { key: "calls", name: html`Calls`, values: buckets.map(({ calls }) => calls) },
    { key: "failed", name: html`Failed calls`, values: buckets.map(({ failed }) => failed) },
    { key: "denials", name: html`Denials`, values: buckets.map(({ denials }) => denials) },
    { key: "refused", name: html`Refused requests`, values: buckets.map(({ refused }) => refused) },
  ];
  return section(id, html`Timeline`, [
    html`<figure>
        <figcaption>Each bar is ${spanShown(bucketMs)}. Times are UTC.</figcaption>
        ${lanes.map((lane) => timelineLane({ ...lane, id: `${id}-${lane.key}` }))}
        <p class="axis"><span>${timeShown(first.from)}</span> <span>${timeShown(endOf(last.from, bucketMs))}</span></p>
      </figure>
      <details><summary>The timeline as a table</summary> `,
    table({
      id: `${id}-table`,
      caption: html`Calls, failed calls, denials and refused requests in spans of ${spanShown(bucketMs)}, those without
      any left out`,
      columns: [
        { head: html`From` },
        { head: html`Calls`, kind: "number" },
        { head: html`Failed`, kind: "number" },
        { head: html`Denials`, kind: "number" },
        { head: html`Refused`, kind: "number" },
      ],
      rows: buckets
        .filter(({ calls, failed, denials, refused }) => calls + failed + denials + refused > 0)
        .map(({ from, calls, failed, denials, refused }) => [timeShown(from), calls, failed, denials, refused]),
    }),
    html`</details>`,
  ]);
}

function endOf(from: string, bucketMs: number): string {
  const epochMs = Date.parse(from) + bucketMs;
  return Number.isNaN(new Date(epochMs).getTime()) ? from : new Date(epochMs).toISOString();
}

/** In the largest unit that it is a whole number of. */
function spanShown(ms: number): Markup {
  const unit = units.find(([unitMs]) => ms >= unitMs && ms % unitMs === 0);
  if (!unit) return html`${ms} ms`;
  const count = ms / unit[0];
  return html`${count} ${count === 1 ? unit[1] : unit[2]}`;
}

const units = [
  [86_400_000, html`day`, html`days`],
  [3_600_000, html`hour`, html`hours`],
  [60_000, html`minute`, html`minutes`],
  [1_000, html`second`, html`seconds`],
] as const;
