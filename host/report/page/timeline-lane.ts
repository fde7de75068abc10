import { html } from "./markup.ts";
import type { Markup } from "./markup.ts";

export interface Lane {
  readonly id: string;
  /** `calls`, `failed`, `denials` or `refused`: how it is drawn. */
  readonly key: string;
  readonly name: Markup;
  /** One figure for each span of time, in order. */
  readonly values: readonly number[];
}

const height = 100;
/** So that a single denial among thousands is seen. */
const heightMin = 4;

/**
 * A row of bars. Each lane has a scale of its own and says so: three denials beside 300 calls would else be nothing. The
 * words stand outside the picture, which is stretched to the page's width.
 */
export function timelineLane({ id, key, name, values: given }: Lane): Markup {
  const values = given.map((value) => (Number.isFinite(value) ? Math.max(value, 0) : 0));
  const most = values.reduce((highest, value) => Math.max(highest, value), 0);
  const total = values.reduce((sum, value) => sum + value, 0);
  const bars = values.map((value, at) => {
    if (value === 0) return null;
    const length = Math.max((value / most) * height, heightMin);
    return html`<rect x="${at + 0.1}" y="${round(height - length)}" width="0.8" height="${round(length)}" />`;
  });
  return html`<div class="lane ${key}">
    <p>
      <strong>${name}</strong>
      <span class="note">${total} in all, ${most === 0 ? html`no bar` : html`the highest bar is ${most}`}</span>
    </p>
    <svg
      role="img"
      aria-labelledby="${id}-name"
      aria-describedby="${id}-what"
      viewBox="0 0 ${values.length} ${height}"
      preserveAspectRatio="none"
    >
      <title id="${id}-name">${name}</title>
      <desc id="${id}-what">
        Bars over time: ${total} in all, ${most} in the busiest span. The table below has the figures.
      </desc>
      ${bars}
    </svg>
  </div> `;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
