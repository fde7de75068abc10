import { sharedStyle } from "../../markup/style.ts";
import { stackingWidthsRem } from "./table.ts";

/**
 * The page's style sheet, except for tables and calls. Words: a line ends between words, and
 * within a long one only where `wordParts` allows it. The timeline: the bars fill the page's width, but the words
 * keep their size. On paper: A4, black on white, numbered sheets, no row split, headings kept with their content.
 */
export const baseStyle = `${sharedStyle}body {
  max-width: 66rem; margin: 0 auto; padding: 2.5rem 1.5rem 4rem;
  font-size: 0.9375rem; line-height: 1.55; word-break: keep-all;
}

body > header { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0.25rem 2rem; color: var(--quiet); }
h1 { font-size: 0.9375rem; font-weight: 600; color: var(--text); }
h2 { padding: 2rem 0 1.25rem; font-size: 2rem; font-weight: 650; line-height: 1.2; letter-spacing: -0.015em; }
h3 { font-size: 0.9375rem; font-weight: 650; line-height: 1.4; }
article + article { margin-top: 2rem; border-top: 3px solid var(--text); }

section { padding: 1.5rem 0 2rem; border-top: 1px solid var(--rule); }
.body { container-type: inline-size; }
.body > * + * { margin-top: 1rem; }
.body > p, .body > ul, .body > ol { max-width: 44rem; }
@media (min-width: 56rem) {
  section { display: grid; grid-template-columns: 10.5rem minmax(0, 1fr); column-gap: 2rem; }
}
@media (max-width: 56rem) {
  h3 { padding-bottom: 0.75rem; font-size: 1.0625rem; }
}
@media (max-width: 30rem) {
  body { padding: 1.25rem 1rem 3rem; }
  h2 { padding: 1.5rem 0 1rem; font-size: 1.5rem; }
}

.verdict { padding: 0.9rem 1.1rem 1rem; border: 1px solid; border-left-width: 6px; border-radius: 3px; }
.verdict .word { font-size: 1.5rem; font-weight: 700; line-height: 1.3; letter-spacing: 0.02em; }
.verdict.pass { border-color: var(--good-rule); background: var(--good-tint); }
.verdict.pass .word { color: var(--good); }
.verdict.fail { border-color: var(--bad-rule); background: var(--bad-tint); }
.verdict.fail .word { color: var(--bad); }
.deviations { padding-left: 1.6rem; }
.deviations li + li { margin-top: 0.6rem; }
.deviations li::marker { color: var(--quiet); font-variant-numeric: tabular-nums; }
.label { display: block; color: var(--bad); font-size: 0.875em; }
.absent { padding-left: 1.2rem; }
.absent li + li { margin-top: 0.25rem; }
.summary { display: grid; gap: 0.35rem; margin: 1.5rem 0 0; padding: 1rem 0 0; border-top: 1px solid var(--rule); list-style: none; }
.summary strong { display: inline-block; min-width: 8.5rem; }

dl > div { padding: 0.25rem 0; }
dl > div:first-child { padding-top: 0; }
@container (min-width: 40rem) {
  dl > div { display: grid; grid-template-columns: minmax(12.5rem, 29%) minmax(0, 1fr); }
}
.hash span { display: inline-block; }

body > footer { padding-top: 1.25rem; border-top: 1px solid var(--rule); color: var(--quiet); font-size: 0.8125rem; }
body > footer p { max-width: 48rem; }

.body > h4 { margin-top: 1.75rem; }
h4 { margin: 0; font-size: inherit; font-weight: 600; }
.body > h4 + dl { margin-top: 0.35rem; }
.legend { display: flex; flex-wrap: wrap; gap: 0.2rem 1.5rem; margin-top: 0.5rem; }

figcaption { margin-bottom: 0.75rem; color: var(--quiet); }
.lane + .lane { margin-top: 1rem; }
.lane svg { display: block; width: 100%; height: 5.5rem; margin-top: 0.25rem; border-bottom: 1px solid var(--strong-rule); background: var(--tint); }
.lane.failed svg, .lane.denials svg, .lane.refused svg { height: 2.75rem; }
.lane rect { fill: var(--bar); }
.lane.failed rect, .lane.refused rect { fill: var(--quiet); }
.lane.denials rect { fill: var(--bad-rule); }
.axis { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 1rem; margin-top: 0.35rem; color: var(--quiet); font-size: 0.875em; }
.axis > span { min-width: 0; }
.axis > span:last-child { margin-left: auto; }
summary { color: var(--link); cursor: pointer; }

@page {
  size: A4; margin: 16mm 16mm 18mm;
  @bottom-left { content: "memcell audit"; font: 8pt system-ui, sans-serif; color: #57606b; }
  @bottom-right { content: counter(page) " of " counter(pages); font: 8pt system-ui, sans-serif; color: #57606b; }
}
@media print {
  body { max-width: none; padding: 0; font-size: 9.5pt; line-height: 1.45; }
  h1, h3 { font-size: 10pt; }
  h2 { padding: 5mm 0 4mm; font-size: 18pt; }
  section { display: block; padding: 4mm 0 5mm; }
  h3 { padding-bottom: 2mm; font-size: 11.5pt; }
  h2, h3, h4, figcaption { break-after: avoid; }
  li, dl > div, .short, .verdict, figure, .lane { break-inside: avoid; }
  article + article { break-before: page; margin-top: 0; border-top: 0; }
  .verdict, .lane svg, .lane rect { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  a { color: inherit; text-decoration: none; }
  details { display: none; }
}
`;

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

/**
 * The list of calls and its filter. A choice in the filter sets a property of every row without the chosen class, and
 * any of the three properties hides the row (`call-filter.ts`). The count is behind the rows, because a counter counts
 * only what is before it; it is shown above them.
 */
const hidingRule = (key: string): string =>
  `:where(.filter:has(.by-${key} .every:not(:checked)) ~ table > tbody) tr { --${key}: none; }`;

export const callStyle = `
#log-users, #log-calls { display: block; }
#log-users > h3, #log-calls > h3 { padding-bottom: 0.75rem; }
.calls { --row: table-row; display: flex; flex-direction: column; counter-reset: shown; }
.calls > .count { order: 1; }
.calls > table { order: 2; }
.count { padding-bottom: 0.75rem; color: var(--quiet); }
.count::before { content: counter(shown) " "; color: var(--text); font-weight: 600; }
.paper { display: none; }
.calls tbody tr { display: var(--user, var(--tool, var(--outcome, var(--row)))); counter-increment: shown; }
${["user", "tool", "outcome"].map(hidingRule).join("\n")}
.succeeded:not(.denied) > td:nth-child(5), .calls tr:not(.changed) > td:nth-child(6) { color: var(--quiet); }
.calls :is(tbody th, td:last-child), .whole { white-space: nowrap; }
.calls td:last-child, .calls thead th:last-child { text-align: right; }
.filter { display: flex; flex-wrap: wrap; align-items: end; gap: 0.5rem 1rem; padding-bottom: 0.75rem; }
.filter label { flex: 1 1 9rem; max-width: 14rem; min-width: 0; color: var(--quiet); font-size: 0.875em; }
.filter select, .filter button { height: 2.125rem; border: 1px solid var(--strong-rule); border-radius: 3px; background: var(--page); color: var(--text); font: inherit; font-size: 0.9375rem; }
.filter select { display: block; width: 100%; padding: 0 0.35rem; text-overflow: ellipsis; }
.filter button { padding: 0 0.85rem; }
@supports not selector(:has(*)) { .filter { display: none; } }
@media screen {
  @container (min-width: 62rem) {
    .filter { position: sticky; z-index: 1; top: 0; padding: 0.5rem 14rem 0.75rem 0; background: var(--page); }
    .calls > .count { position: sticky; z-index: 1; top: 2rem; align-self: end; height: 1.5rem; margin: -2.375rem 0 0.875rem; padding: 0; }
    .calls thead th { position: sticky; top: 4.6rem; background: var(--page); border: 0; box-shadow: inset 0 -1px var(--strong-rule); }
  }
  @container (max-width: 62rem) {
    .calls { --row: grid; }
    .calls table, .calls caption, .calls tbody, .calls tbody tr > * { display: block; }
    .calls thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
    .calls caption { padding-bottom: 0.6rem; border-bottom: 1px solid var(--strong-rule); }
    .calls tbody tr { grid-template-columns: 11.75rem minmax(0, 1fr) minmax(0, 1fr) 6rem; gap: 0.15rem 1rem; padding: 0.5rem 0; border-bottom: 1px solid var(--rule); }
    .calls tbody tr > * { padding: 0; border: 0; }
    .calls tbody th { grid-area: 1 / 1; }
    .calls td:nth-child(2) { grid-area: 2 / 1; }
    .calls td:nth-child(3) { grid-area: 1 / 2; }
    .calls td:nth-child(4) { grid-area: 2 / 2; }
    .calls td:nth-child(5) { grid-area: 1 / 3 / 2 / 5; }
    .calls td:nth-child(6) { grid-area: 2 / 3; }
    .calls td:nth-child(7) { grid-area: 2 / 4; }
    .calls tbody th::before { content: "Record "; color: var(--quiet); }
  }
  @container (max-width: 44rem) {
    .calls { --row: flex; }
    .calls tbody tr { flex-wrap: wrap; gap: 0.15rem 0.5rem; padding: 0.6rem 0; }
    .calls tbody td { flex: 1 0 100%; min-width: 0; }
    .calls td:is(:nth-child(2), :last-child) { flex: 0 1 auto; margin-left: auto; }
    .calls td:nth-child(6) { flex: 1 0 60%; }
    .calls td:nth-child(n + 3):nth-child(-n + 6) { position: relative; padding-left: 5.75rem; }
    .calls td:nth-child(n + 3):nth-child(-n + 6)::before { position: absolute; left: 0; color: var(--quiet); font-size: 0.875em; line-height: 1.453rem; }
    ${["User", "Tool", "Outcome", "Changed"].map((label, at) => `.calls td:nth-child(${at + 3})::before { content: "${label}"; content: "${label}" / ""; }`).join("\n    ")}
  }
}
@media print {
  .filter, .count, .paper { break-after: avoid; padding-bottom: 2mm; }
  .filter select { height: auto; padding: 0; border: 0; appearance: none; font-size: 9.5pt; }
  .filter button { display: none; }
  .filter:not(:has(.every:not(:checked))) ~ table > tbody > tr:not(.failed, .denied) { display: none; }
  .filter:not(:has(.every:not(:checked))) ~ .paper { display: block; order: 1; }
}
`;
