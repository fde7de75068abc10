/** Which texts a browser sends back as they are, and what was typed into one. */
import { canBeTyped } from "../../../markup/markup.ts";

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
