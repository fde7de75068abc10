/**
 * The common elements of the sections: names, figures, facts, tables. Figures are exact; large sizes are also shown in
 * a larger unit.
 */
import { pageLimits } from "../../../shared/limits.ts";
import { html } from "./markup.ts";
import type { Markup, Value } from "./markup.ts";

/** A technical name. */
export function code(name: string): Markup {
  return html`<code>${name}</code>`;
}

/** A list of names, or "none". */
export function codes(names: readonly string[]): Markup {
  if (names.length === 0) return html`none`;
  return html`${names.map((name, at) => (at === 0 ? code(name) : html`, ${code(name)}`))}`;
}

export function counted(count: number, one: Markup, many: Markup): Markup {
  return html`${count} ${count === 1 ? one : many}`;
}

/** Facts with their names. */
export function facts(rows: readonly (readonly [name: Markup, fact: Markup])[]): Markup {
  return html`<dl>
    ${rows.map(
      ([name, fact]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>${fact}</dd>
        </div>`,
    )}
  </dl>`;
}

const kib = 1024;
const mib = 1024 * kib;
const pageBytes = 64 * kib;

export function bytesShown(bytes: number): Markup {
  if (bytes >= mib) return html`${bytes} bytes (${hundredths(bytes / mib)} MiB)`;
  if (bytes >= kib) return html`${bytes} bytes (${hundredths(bytes / kib)} KiB)`;
  return bytes === 1 ? html`1 byte` : html`${bytes} bytes`;
}

export function wasmPagesShown(pages: number): Markup {
  return html`${pages} pages of 64 KiB (${hundredths((pages * pageBytes) / mib)} MiB)`;
}

/** Milliseconds, rounded to hundredths below 10 and to whole ones above. */
export function msShown(ms: number): Markup {
  return html`${ms < 10 ? hundredths(ms) : Math.round(ms)} ms`;
}

/** A time of a log. An invalid time is shown as text. */
export function timeShown(time: string): Markup {
  const epochMs = Date.parse(time);
  if (Number.isNaN(epochMs)) return html`${time}`;
  const iso = new Date(epochMs).toISOString();
  return html`<time datetime="${iso}">${iso.slice(0, 10)} ${iso.slice(11, 19)}</time>`;
}

function hundredths(value: number): number {
  return Math.round(value * 100) / 100;
}

export interface Column {
  readonly head: Markup;
  readonly kind: "text" | "number" | "mark";
}

const columnOf =
  (kind: Column["kind"]) =>
  (literals: TemplateStringsArray, ...values: readonly Value[]): Column => ({ head: html(literals, ...values), kind });

/** Columns by their heads: text aligned left, numbers right, marks centred. */
export const text = columnOf("text");
export const number = columnOf("number");
export const mark = columnOf("mark");

export interface Table {
  readonly id: string;
  readonly caption: Markup;
  readonly columns: readonly Column[];
  /** The first cell of each row is its heading. */
  readonly rows: readonly (readonly Value[])[];
  /** Too wide for a phone: it scrolls in its own box. */
  readonly isWide?: boolean;
}

/** A table with at most this many rows is printed on one sheet. */
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
