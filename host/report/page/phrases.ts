/** Small pieces of sentences that several sections need. Figures are exact, with a unit beside them that says how much. */
import { html } from "./markup.ts";
import type { Markup } from "./markup.ts";

/** A name as a machine reads it. */
export function code(name: string): Markup {
  return html`<code>${name}</code>`;
}

/** Names in a row, or a word for none. */
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

/** Milliseconds, exact where they are few. */
export function msShown(ms: number): Markup {
  return html`${ms < 10 ? hundredths(ms) : Math.round(ms)} ms`;
}

/** A time of a log. What is none is shown as the text that it is. */
export function timeShown(time: string): Markup {
  const epochMs = Date.parse(time);
  if (Number.isNaN(epochMs)) return html`${time}`;
  const iso = new Date(epochMs).toISOString();
  return html`<time datetime="${iso}">${iso.slice(0, 10)} ${iso.slice(11, 19)}</time>`;
}

function hundredths(value: number): number {
  return Math.round(value * 100) / 100;
}
