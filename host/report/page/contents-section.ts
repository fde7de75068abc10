import type { AuditReport } from "../report.ts";
import { html } from "./markup.ts";
import type { Markup } from "./markup.ts";
import { code } from "./phrases.ts";
import { bytesShown, wasmPagesShown } from "./quantities.ts";
import { facts, section } from "./section.ts";
import { table } from "./table.ts";

/** What is in the file besides code: its memory, what a host can call, and the sections that no engine reads. */
export function contentsSection({ artifact }: AuditReport, id: string): Markup {
  const toolOf = new Map(artifact.manifest?.tools.map((tool) => [tool.export, tool.name]));
  return section(id, html`Inside the file`, [
    memory(artifact.memory),
    table({
      id: `${id}-exports`,
      caption: html`Exports: what a host can call or see`,
      columns: [{ head: html`Export` }, { head: html`Kind` }, { head: html`Tool` }],
      rows: artifact.exports.map(({ name, kind, signature }) => [
        code(name),
        kind === "function" ? html`${kind} <span class="note"><code>${signature}</code></span>` : kind,
        toolName(toolOf.get(name)),
      ]),
    }),
    table({
      id: `${id}-custom`,
      caption: html`Custom sections: data that is never run`,
      columns: [{ head: html`Section` }, { head: html`Size`, kind: "number" }],
      rows: artifact.customSections.map(({ name, bytes }) => [code(name), bytesShown(bytes)]),
    }),
  ]);
}

function toolName(name: string | undefined): Markup {
  return name === undefined ? html`<span class="quiet">none</span>` : code(name);
}

function memory(limits: AuditReport["artifact"]["memory"]): Markup {
  if (limits === null) return html`<p>The file defines no memory that can be read.</p>`;
  const most =
    limits.max === null ? html`<strong class="bad">no maximum is declared</strong>` : wasmPagesShown(limits.max);
  return facts([
    [html`Memory at first`, wasmPagesShown(limits.min)],
    [html`Memory at most`, most],
  ]);
}
