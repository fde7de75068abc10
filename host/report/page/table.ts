import { pageLimits } from "../../../shared/limits.ts";
import { code } from "../../markup/elements.ts";
import { html } from "../../markup/markup.ts";
import type { Markup, Value } from "../../markup/markup.ts";
import { notShown } from "./phrases.ts";

export interface Column {
  readonly head: Markup;
  /** The head as text. On a narrow screen every cell has it beside it. */
  readonly label: string;
  readonly kind: "text" | "number" | "mark";
}

const columnOf =
  (kind: Column["kind"]) =>
  (literals: TemplateStringsArray): Column => ({ head: html(literals), label: literals.join(""), kind });

/** Columns by their heads: text aligned left, numbers right. */
export const text = columnOf("text");
export const number = columnOf("number");

/** A centred column with the head `name`. */
export const markOf = (name: string): Column => ({ head: code(name), label: name, kind: "mark" });

export interface Table {
  readonly id: string;
  readonly caption: Markup;
  readonly columns: readonly Column[];
  /** The first cell of each row is its heading. */
  readonly rows: readonly (readonly Value[])[];
  /** In a place that is at most this wide, rows become blocks. Default: 34. */
  readonly stacksAtRem?: (typeof stackingWidthsRem)[number];
}

/** 34: a phone. The others: where columns of many words no longer fit. */
export const stackingWidthsRem = [34, 44, 50, 62] as const;

/** A table with at most this many rows is printed on one sheet. */
const shortRowsMax = 12;

/** A table. On a narrow screen, each row becomes a block with the cells below its heading. */
export function table({ id, caption, columns, rows, stacksAtRem = 34 }: Table): Markup {
  if (rows.length === 0) return html`<p><strong>${caption}</strong>: none.</p>`;
  const shown = rows.slice(0, pageLimits.rowsMax);
  // The only cell of a block needs no label.
  const isLabelled = columns.length > 2;
  return html`<table class="stack-${stacksAtRem} ${rows.length <= shortRowsMax ? "short" : "long"}">
      <caption id="${id}">
        ${caption}
      </caption>
      ${tableHead(columns)}
      <tbody>
        ${shown.map(
          (row) =>
            html`<tr>
              ${row.map((cell, at) => bodyCell(cell, columns[at], at === 0, isLabelled))}
            </tr> `,
        )}
      </tbody>
    </table>
    ${notShown(rows.length - shown.length)}`;
}

export function tableHead(columns: readonly Column[]): Markup {
  return html`<thead>
    <tr>
      ${columns.map(({ head, kind }) => html`<th scope="col" class="${kind}">${head}</th>`)}
    </tr>
  </thead>`;
}

function bodyCell(cell: Value, column: Column | undefined, isHeading: boolean, isLabelled: boolean): Markup {
  const { kind, label } = column ?? { kind: "text", label: "" };
  if (isHeading) return html`<th scope="row" class="${kind}">${cell}</th>`;
  if (!isLabelled) return html`<td class="${kind}">${cell}</td>`;
  return html`<td class="${kind}" data-label="${label}">${cell}</td>`;
}
