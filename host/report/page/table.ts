import { pageLimits } from "../../../shared/limits.ts";
import { html } from "./markup.ts";
import type { Markup, Value } from "./markup.ts";

export interface Column {
  readonly head: Markup;
  readonly kind: "text" | "number" | "mark";
}

const columnOf =
  (kind: Column["kind"]) =>
  (literals: TemplateStringsArray, ...values: readonly Value[]): Column => ({ head: html(literals, ...values), kind });

/** Columns by their heads: text at the left, numbers at the right, marks in the middle. */
export const text = columnOf("text");
export const number = columnOf("number");
export const mark = columnOf("mark");

export interface Table {
  readonly id: string;
  readonly caption: Markup;
  readonly columns: readonly Column[];
  /** The first cell of each names its row. */
  readonly rows: readonly (readonly Value[])[];
  /** Too wide for a phone: it then scrolls in a box of its own. */
  readonly isWide?: boolean;
}

/** A table of so few rows is printed on one sheet. */
const shortRowsMax = 12;

export function table({ id, caption, columns, rows, isWide = false }: Table): Markup {
  if (rows.length === 0) return html`<p><strong>${caption}</strong>: none.</p>`;
  const shown = rows.slice(0, pageLimits.rowsMax);
  const made = html`<table class="${isWide ? "wide" : "narrow"} ${rows.length <= shortRowsMax ? "short" : "long"}">
      <caption id="${id}">
        <span>${caption}</span>
      </caption>
      <thead>
        <tr>
          ${columns.map(({ head, kind }) => html`<th scope="col" class="${kind}">${head}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${shown.map(
          (row) =>
            html`<tr>
              ${row.map((cell, at) => bodyCell(cell, at, columns[at]?.kind ?? "text"))}
            </tr> `,
        )}
      </tbody>
    </table>
    ${notShown(rows.length - shown.length)}`;
  if (!isWide) return made;
  return html`<div class="scroll" role="group" aria-labelledby="${id}" tabindex="0">${made}</div>`;
}

/** Says how many rows or items were left out. */
export function notShown(count: number): Markup | null {
  return count > 0 ? html`<p class="note">… and ${count} more, which are not shown.</p>` : null;
}

function bodyCell(cell: Value, at: number, kind: Column["kind"]): Markup {
  if (at === 0) return html`<th scope="row" class="${kind}">${cell}</th>`;
  return html`<td class="${kind}">${cell}</td>`;
}
