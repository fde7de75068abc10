import type { LogSummary } from "../../audit/verify/log-summary.ts";
import { html } from "./markup.ts";
import type { Markup } from "./markup.ts";
import { code, counted } from "./phrases.ts";
import { timeShown } from "./quantities.ts";
import { section } from "./section.ts";
import { table } from "./table.ts";

/** What was refused before any tool was called: by where it was asked, and why. */
export function refusalsSection({ refused, refusals, refusedNotShown }: LogSummary, id: string): Markup {
  const title = html`Refused requests`;
  if (refused === 0) return section(id, title, html`<p>No request was refused before it could call a tool.</p>`);
  const requests = counted(refused, html`request was refused`, html`requests were refused`);
  return section(id, title, [
    table({
      id: `${id}-kinds`,
      caption: html`${requests} before any tool was called. Times are UTC.`,
      isWide: true,
      columns: [
        { head: html`Reason` },
        { head: html`Asked at` },
        { head: html`Last` },
        { head: html`Requests`, kind: "number" },
      ],
      rows: refusals.map(({ surface, reason, times, lastTime }) => [
        code(reason),
        code(surface),
        timeShown(lastTime),
        times,
      ]),
    }),
    refusedNotShown > 0 ? html`<p class="note">… and ${refusedNotShown} requests of other kinds.</p>` : null,
  ]);
}
