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
