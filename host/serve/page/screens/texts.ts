/** Texts of a memory as a page shows them, and as a browser sends them. */
import { canBeTyped, editable, hasUnseen, html, preformatted } from "../../../markup/markup.ts";
import type { Markup, Value } from "../../../markup/markup.ts";
import { form } from "./elements.ts";
import type { Visit } from "./visit.ts";

/** A text that a person changes or writes. */
export const textField = (label: Value, text: string): Markup =>
  html`<label for="text"
    >${label}<textarea id="text" name="text" spellcheck="true">${editable(text)}</textarea>
  </label>`;

/** A form for a text, with a way back. `more`: its hidden fields. */
export const textForm = (
  visit: Visit,
  names: readonly string[],
  { label, text, button: words, back, more }: TextForm,
) =>
  form(
    visit,
    names,
    html`${more}${hidden(text)}${text.startsWith("---") ? headNote : null}${textField(label, text)}
      <div class="row">
        <button class="main">${words}</button>
        <a class="button" href="${visit.to(back)}">Cancel</a>
      </div>`,
  );

const headNote = html`<p>
  Leave the lines at the top, between the two lines with ---, or change only what is behind a colon.
</p>`;

type TextForm = Readonly<{ label: Markup; text: string; button: Markup; back: readonly string[]; more: Value }>;

/** Why a browser would not send a text back as it is; `null` if it would. `text`: `null` if it is none. */
export function whyNotTyped(text: string | null, formBytesMax: number): string | null {
  if (text === null) return "it is not text";
  if (!canBeTyped(text)) return "it has characters that a browser changes";
  if (/\r\n/.test(text) && /(?<!\r)\n/.test(text)) return "it has line ends of two kinds";
  // What is no letter or digit takes three characters for each byte.
  return Buffer.byteLength(text) * 3 > formBytesMax ? "it is too long" : null;
}

/** What was typed, with the line ends that the text before has. */
export const typedOver = (before: string | null, typed: string): string =>
  before?.includes("\r\n") === true ? typed.replaceAll("\n", "\r\n") : typed;

/** A whole text as it is. */
export const wholeText = (text: string): Markup => html`<pre><code>${preformatted(text)}</code></pre>`;

/** Says of a text that it has hidden characters: they can hide what it says. */
export const hidden = (text: string): Markup | null =>
  hasUnseen(text)
    ? html`<p class="warning">
        This text has hidden characters. Where you only read it, they are shown as U+ and a number. They can hide what a
        text really says: if you do not know why they are there, do not approve it.
      </p>`
    : null;

/** Lines of a unified diff. The sign before each line says the same as its colour. */
export function difference(lines: readonly string[]): Markup {
  if (lines.length === 0) return html`<p class="quiet">Both texts are the same.</p>`;
  return html`<p class="note">Lines with − were taken away, lines with + are new.</p>
    <pre class="difference"><code>${lines.map(lineOf)}</code></pre>`;
}

function lineOf(line: string, at: number): Markup {
  const [sign, text] = [line.slice(0, 1), preformatted(line.slice(1))];
  if (sign === "+") return html`<ins>+ ${text}</ins>`;
  if (sign === "-") return html`<del>− ${text}</del>`;
  if (sign === "@") return at === 0 ? html`` : html`<span class="place">…</span>`;
  return sign === "\\" ? html`<span class="place">(no line end)</span>` : html`<span> ${text}</span>`;
}
