import { stackingWidthsRem } from "./table.ts";

/**
 * Tables: one thin rule per row, aligned figures. In a narrow place every row becomes a block: its heading, then marks
 * and figures side by side, then texts below each other, each with the head of its column as a label. The heads stay in
 * the page for screen readers, which therefore need not read the labels.
 */
export const tableStyle = `
table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { padding-bottom: 0.35rem; text-align: left; font-weight: 600; }
.body > table + table, .body > .legend + table, .body > dl + table { margin-top: 1.75rem; }
th, td { padding: 0.4rem 1rem 0.4rem 0; border-bottom: 1px solid var(--rule); text-align: left; vertical-align: top; }
th:last-child, td:last-child { padding-right: 0; }
th { font-weight: inherit; }
thead th { padding-top: 0.2rem; border-bottom-color: var(--strong-rule); color: var(--quiet); font-size: 0.875em; vertical-align: bottom; white-space: nowrap; }
th.number, td.number { text-align: right; white-space: nowrap; }
th.mark, td.mark { padding: 0.4rem 0.5rem; text-align: center; }
th.mark + th.text, td.mark + td.text { padding-left: 1rem; }
time { white-space: nowrap; }
.mark [aria-hidden] { display: inline-block; min-width: 0.85em; text-align: center; }
.below, .scope { display: block; }
tbody th:nth-last-child(2) { width: 29%; }
details > table { margin-top: 0.75rem; }
@media screen {${stackingWidthsRem
  .map(
    (rem) => `
  @container (max-width: ${rem}rem) {${stacked(`.stack-${rem}`)}}`,
  )
  .join("")}
}
@media print {
  caption, thead { break-after: avoid; }
  tr { break-inside: avoid; }
  tbody tr:nth-child(-n + 2) { break-after: avoid; }
  tbody tr:nth-last-child(-n + 2) { break-before: avoid; }
  thead { display: table-header-group; }
  th, td { padding-top: 1.1mm; padding-bottom: 1.1mm; }
}
`;

/** All elements get another `display`, because some screen readers lose a table of which only a part has one. */
function stacked(table: string): string {
  return `
    ${table}, ${table} > caption, ${table} > tbody, ${table} > tbody > tr > * { display: block; }
    ${table} > thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
    ${table} > tbody > tr { display: flex; flex-wrap: wrap; gap: 0.15rem 0.5rem; padding: 0.6rem 0; border-bottom: 1px solid var(--rule); }
    ${table} > caption { padding-bottom: 0.6rem; border-bottom: 1px solid var(--strong-rule); }
    ${table} > tbody > tr > * { padding: 0; border: 0; text-align: left; }
    ${table} > tbody > tr > th { font-weight: 600; }
    ${table} > tbody > tr > .text { flex: 1 0 100%; width: auto; min-width: 0; }
    ${table} .text[data-label] { position: relative; padding-left: 5.75rem; }
    ${table} .text[data-label]::before { position: absolute; left: 0; line-height: 1.453rem; }
    ${table} :is(.text, .number)[data-label]::before, ${table} .mark[data-label]::after { content: attr(data-label); content: attr(data-label) / ""; color: var(--quiet); font-size: 0.875em; }
    ${table} .number[data-label] { padding-right: 0.75rem; }
    ${table} .number[data-label]::before { padding-right: 0.4em; }
    ${table} .mark { min-width: 3.75rem; white-space: nowrap; }
    ${table} .scope { display: inline-block; padding-right: 0.75rem; }
    ${table} .mark[data-label]::after { padding-left: 0.4em; }
  `;
}
