/** Text as one line. Apart from `one-line.ts`, so that a deferred module does not bring the rule about hidden characters. */

/** Control characters, line and paragraph separators, bidirectional embeddings, overrides and isolates. */
export const breaksLine: RegExp = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

const everyLineBreaker = new RegExp(breaksLine, "gu");

/** A text without line breaks, in which hidden characters stay. */
export const plainLine = (text: string): string => text.replaceAll(everyLineBreaker, " ").toWellFormed().trim();
