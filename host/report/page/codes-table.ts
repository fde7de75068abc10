import type { AuditReport } from "../report.ts";
import { html } from "./markup.ts";
import type { Markup } from "./markup.ts";
import { code } from "./phrases.ts";
import { table } from "./table.ts";

/** What the plugin's failures are called beside the codes that every plugin has; nothing where it adds none. */
export function codesTable({ artifact: { manifest } }: AuditReport, id: string): Markup | null {
  const errors = manifest?.errors ?? [];
  if (errors.length === 0) return null;
  return table({
    id: `${id}-codes`,
    caption: html`Error codes of its own, and what the file says they mean; a model is told this`,
    columns: [{ head: html`Code` }, { head: html`A case of` }, { head: html`Meaning` }],
    rows: errors.map((error) => [code(error.code), code(error.of), error.meaning]),
  });
}
