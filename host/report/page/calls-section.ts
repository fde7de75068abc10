import type { LogSummary } from "../../audit/verify/log-summary.ts";
import { html } from "./markup.ts";
import type { Markup } from "./markup.ts";
import { code, counted } from "./phrases.ts";
import { msShown } from "./quantities.ts";
import { section } from "./section.ts";
import { notShown, table } from "./table.ts";

/** How often each tool was called, and what became of it. */
export function callsSection(log: LogSummary, id: string): Markup {
  const title = html`Calls`;
  if (log.calls === 0) return section(id, title, html`<p>The log knows of no call.</p>`);
  return section(id, title, [
    table({
      id: `${id}-tools`,
      caption: html`${counted(log.calls, html`call`, html`calls`)} by ${counted(log.users, html`user`, html`users`)}, of
      which ${log.failed} failed`,
      isWide: true,
      columns: [
        { head: html`Tool` },
        { head: html`Calls`, kind: "number" },
        { head: html`Failed`, kind: "number" },
        { head: html`Median`, kind: "number" },
        { head: html`Longest`, kind: "number" },
      ],
      rows: log.tools.map((each) => [
        each.tool === null ? html`no tool’s name` : code(each.tool),
        each.calls,
        each.failed,
        msShown(each.medianMs),
        msShown(each.maxMs),
      ]),
    }),
    notShown(log.toolsNotShown),
  ]);
}
