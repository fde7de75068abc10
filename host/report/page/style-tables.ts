/**
 * Tables: one thin rule for each row, figures under each other; the wide ones scroll beside their page. The timeline: bars
 * that fill the page's width, and words beside them that keep their size.
 */
export const tableStyle = `
.body > h4 { margin-top: 1.75rem; }
h4 { margin: 0; font-size: inherit; font-weight: 600; }
.body > h4 + dl { margin-top: 0.35rem; }
table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { padding-bottom: 0.35rem; text-align: left; font-weight: 600; }
.body > table + table, .body > .scroll + table, .body > .legend + table, .body > dl + table { margin-top: 1.75rem; }
th, td { padding: 0.4rem 1rem 0.4rem 0; border-bottom: 1px solid var(--rule); text-align: left; vertical-align: top; }
th:last-child, td:last-child { padding-right: 0; }
th { font-weight: inherit; }
thead th { padding-top: 0.2rem; border-bottom-color: var(--strong-rule); color: var(--quiet); font-size: 0.875em; vertical-align: bottom; white-space: nowrap; }
th.number, td.number { text-align: right; white-space: nowrap; }
th.mark, td.mark { padding: 0.4rem 0.5rem; text-align: center; }
th.mark + th.text, td.mark + td.text { padding-left: 1rem; }
tbody th .below { display: block; }
.narrow tbody th { width: 29%; min-width: 7rem; }
.scroll { position: relative; max-width: 100%; overflow-x: auto; }
.wide { min-width: 40rem; }
.wide td.text { min-width: 5.5rem; }
.wide td.text:nth-child(3) { min-width: 9rem; }
.wide td:last-child { white-space: nowrap; }
.wide caption span { display: block; position: sticky; left: 0; width: max-content; max-width: min(100%, calc(100vw - 2rem)); }
.wide tbody th { min-width: 6.5rem; }
@media screen and (max-width: 48rem) { .wide tbody th { position: sticky; left: 0; background: var(--page); } }
.scope { display: block; }
.legend { display: flex; flex-wrap: wrap; gap: 0.2rem 1.5rem; margin-top: 0.5rem; }

figcaption { margin-bottom: 0.75rem; color: var(--quiet); }
.lane + .lane { margin-top: 1rem; }
.lane svg { display: block; width: 100%; height: 5.5rem; margin-top: 0.25rem; border-bottom: 1px solid var(--strong-rule); background: var(--tint); }
.lane.failed svg, .lane.denials svg, .lane.refused svg { height: 2.75rem; }
.lane rect { fill: var(--bar); }
.lane.failed rect, .lane.refused rect { fill: var(--quiet); }
.lane.denials rect { fill: var(--bad-rule); }
.axis { display: flex; justify-content: space-between; gap: 1rem; margin-top: 0.35rem; color: var(--quiet); font-size: 0.875em; }
details > table { margin-top: 0.75rem; }
summary { color: var(--link); cursor: pointer; }
`;
