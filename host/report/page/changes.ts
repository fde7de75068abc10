import type { Changes } from "../../audit/verify/log-summary.ts";
import { html } from "./markup.ts";
import type { Markup } from "./markup.ts";
import { counted } from "./phrases.ts";

/** What calls have changed, in a few words; `null` for nothing. */
export function changesShown({ written, trashed, removed, granted }: Changes): Markup | null {
  const parts = [
    written > 0 ? html`${written} written` : null,
    trashed > 0 ? html`${trashed} to trash` : null,
    removed > 0 ? html`${removed} removed` : null,
    granted > 0 ? counted(granted, html`grant`, html`grants`) : null,
  ].filter((part) => part !== null);
  if (parts.length === 0) return null;
  const last = parts.length - 1;
  return html`${parts.map((part, at) => html`<span class="whole">${part}${at < last ? html`,` : null}</span> `)}`;
}
