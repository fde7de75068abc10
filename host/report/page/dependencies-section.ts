import type { AuditReport } from "../report.ts";
import { html } from "./markup.ts";
import type { Markup } from "./markup.ts";
import { code, counted } from "./phrases.ts";
import { section } from "./section.ts";
import { table } from "./table.ts";

/** Whose code the file is made of. */
export function dependenciesSection({ dependencies }: AuditReport, id: string): Markup {
  const title = html`Dependencies`;
  if (dependencies === null) {
    return section(
      id,
      title,
      html`<p>No list of components accounts for this very file. Which packages were linked into it is not known.</p>`,
    );
  }
  return section(
    id,
    title,
    table({
      id: `${id}-packages`,
      caption: html`${counted(dependencies.length, html`package`, html`packages`)} linked into this very file, as its
      build wrote them down`,
      columns: [{ head: html`Package` }, { head: html`Version` }, { head: html`Licence` }],
      rows: dependencies.map(({ name, version, licence }) => [code(name), version, licence]),
    }),
  );
}
