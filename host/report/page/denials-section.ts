import type { LogSummary, UnfitUse } from "../../audit/verify/log-summary.ts";
import { html } from "./markup.ts";
import type { Markup } from "./markup.ts";
import { code, counted } from "./phrases.ts";
import { timeShown } from "./quantities.ts";
import { section } from "./section.ts";
import { notShown, table } from "./table.ts";

/** Who asked for what without a right to it, and what failed on the way to the disk. */
export function denialsSection(log: LogSummary, id: string): Markup {
  const title = html`Denials`;
  if (log.denials + log.failedUses + log.unfitUses.length === 0) {
    return section(id, title, html`<p>No capability use was denied, and none failed.</p>`);
  }
  const denied = counted(log.denials, html`capability use was denied`, html`capability uses were denied`);
  return section(id, title, [
    table({
      id: `${id}-uses`,
      caption: html`${denied}, ${log.failedUses} failed otherwise. Times are UTC.`,
      isWide: true,
      columns: [
        { head: html`Time` },
        { head: html`User` },
        { head: html`Tool` },
        { head: html`Asked for` },
        { head: html`Refused with` },
      ],
      rows: log.unfitUses.map((use) => [
        timeShown(use.time),
        named(use.userId),
        use.tool === null ? named(null) : code(use.tool),
        askedFor(use),
        use.code === "CAPABILITY_DENIED" ? html`<strong>${code(use.code)}</strong>` : code(use.code),
      ]),
    }),
    notShown(log.unfitUsesNotShown),
  ]);
}

function named(name: string | null): Markup {
  return name === null ? html`<span class="quiet">none</span>` : html`${name}`;
}

function askedFor({ capability, scope, path }: UnfitUse): Markup {
  const place = scope === null ? null : html` in ${code(scope)}`;
  return html`${code(capability)}${place}${path === null ? null : html`: ${code(path)}`}`;
}
