import { pageLimits } from "../../../shared/limits.ts";
import { html } from "./markup.ts";
import type { Markup, Value } from "./markup.ts";

export interface Column {
  readonly head: Markup;
  /** `mark` is centred, `number` stands at the right; the default is text. */
  readonly kind?: "mark" | "number" | "text";
}

export interface Table {
  readonly id: string;
  readonly caption: Markup;
  readonly columns: readonly Column[];
  /** The first cell of each names its row. */
  readonly rows: readonly (readonly Value[])[];
  /** Too wide for a phone: it then scrolls in a box of its own. */
  readonly isWide?: boolean;
}

export function table(described: Table): Markup {
  const { id, caption, columns, rows } = described;
  if (rows.length === 0) return html`<p><strong>${caption}</strong>: none.</p>`;
  const shown = rows.slice(0, pageLimits.rowsMax);
  const made = html`<table class="${classesOf(described)}">
      <caption id="${id}">
        <span>${caption}</span>
      </caption>
      <thead>
        <tr>
          ${columns.map(headCell)}
        </tr>
      </thead>
      <tbody>
        ${shown.map(
          (row) =>
            html`<tr>
              ${row.map((cell, at) => bodyCell(cell, at, columns[at]))}
            </tr> `,
        )}
      </tbody>
    </table>
    ${notShown(rows.length - shown.length)}`;
  if (!described.isWide) return made;
  return html`<div class="scroll" role="group" aria-labelledby="${id}" tabindex="0">${made}</div>`;
}

function classesOf({ isWide, rows }: Table): string {
  return `${isWide ? "wide" : "narrow"} ${rows.length <= shortRowsMax ? "short" : "long"}`;
}

/** A table of so few rows is printed on one sheet. */
const shortRowsMax = 12;

/** Says how many rows or items were left out. */
export function notShown(count: number): Markup | null {
  return count > 0 ? html`<p class="note">… and ${count} more, which are not shown.</p>` : null;
}

function headCell({ head, kind = "text" }: Column): Markup {
  return html`<th scope="col" class="${kind}">${head}</th>`;
}

function bodyCell(cell: Value, at: number, column: Column | undefined): Markup {
  const kind = column?.kind ?? "text";
  if (at === 0) return html`<th scope="row" class="${kind}">${cell}</th>`;
  return html`<td class="${kind}">${cell}</td>`;
}
