/** Figures as a reader takes them in: exact, and beside that in a unit that says how much it is. */
import { html } from "./markup.ts";
import type { Markup } from "./markup.ts";

const kib = 1024;
const mib = 1024 * kib;
export const pageBytes: number = 64 * kib;

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
