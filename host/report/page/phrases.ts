/**
 * The common elements of the sections: names, figures, facts. Figures are exact; large sizes are also shown in
 * a larger unit.
 */
import { code } from "../../markup/elements.ts";
import { html, plain } from "../../markup/markup.ts";
import type { Markup } from "../../markup/markup.ts";

/** A list of names, or "none". */
export function codes(names: readonly string[]): Markup {
  if (names.length === 0) return html`none`;
  return html`${names.map((name, at) => (at === 0 ? code(name) : html`, ${code(name)}`))}`;
}

/** A SHA-256, in halves that stay whole where there is room for one. */
export function hash(sha256: string): Markup {
  return html`<code class="hash"><span>${sha256.slice(0, 32)}</span><span>${sha256.slice(32)}</span></code>`;
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
  return html`<time>${plain(new Date(epochMs).toISOString().slice(0, 19).replace("T", " "))}</time>`;
}

function hundredths(value: number): number {
  return Math.round(value * 100) / 100;
}

/** Says how many rows or items were left out. */
export function notShown(count: number): Markup | null {
  return count > 0 ? html`<p class="note">… and ${count} more, which are not shown.</p>` : null;
}
