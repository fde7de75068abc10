/** The timeline: bars that fill the page's width, and words beside them that keep their size. */
export const timelineStyle = `
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
