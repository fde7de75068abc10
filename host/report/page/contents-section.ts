/** What is in the file: its memory, what a host can call, the sections that no engine reads, and whose code it is. */
import type { AuditReport } from "../report.ts";
import { html } from "./markup.ts";
import type { Markup, Value } from "./markup.ts";
import { bytesShown, code, counted, facts, wasmPagesShown } from "./phrases.ts";
import { number, table, text } from "./table.ts";

export function contentsBody({ artifact }: AuditReport, id: string): Value {
  const toolOf = new Map(artifact.manifest?.tools.map((tool) => [tool.export, code(tool.name)]));
  return [
    memory(artifact.memory),
    table({
      id: `${id}-exports`,
      caption: html`Exports: what a host can call or see`,
      columns: [text`Export`, text`Kind`, text`Tool`],
      rows: artifact.exports.map(({ name, kind, signature }) => [
        code(name),
        kind === "function" ? html`${kind} <span class="note"><code>${signature}</code></span>` : kind,
        toolOf.get(name) ?? html`<span class="quiet">none</span>`,
      ]),
    }),
    table({
      id: `${id}-custom`,
      caption: html`Custom sections: data that is never run`,
      columns: [text`Section`, number`Size`],
      rows: artifact.customSections.map(({ name, bytes }) => [code(name), bytesShown(bytes)]),
    }),
  ];
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

export function dependenciesBody({ dependencies }: AuditReport, id: string): Markup {
  if (dependencies === null) {
    return html`<p>
      No list of components accounts for this very file. Which packages were linked into it is not known.
    </p>`;
  }
  const packages = counted(dependencies.length, html`package`, html`packages`);
  return table({
    id: `${id}-packages`,
    caption: html`${packages} linked into this very file, as its build wrote them down`,
    columns: [text`Package`, text`Version`, text`Licence`],
    rows: dependencies.map(({ name, version, licence }) => [code(name), version, licence]),
  });
}
