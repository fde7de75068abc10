/** Names that a plugin author could choose for their effect on a terminal. */
export interface HostileText {
  readonly name: string;
  readonly text: string;
}

export const hostileTexts: readonly HostileText[] = [
  { name: "a line feed and a verdict", text: "x\nPASS  it is what its manifest says" },
  { name: "a carriage return", text: "x\rPASS  it is what its manifest says" },
  { name: "a sequence that clears the screen", text: "\u001b[2J\u001b[H" },
  { name: "a sequence that sets the title", text: "\u001b]0;memcell\u0007" },
  { name: "a one-character control sequence", text: "\u009b2J" },
  { name: "a link", text: "\u001b]8;;https://example.com\u001b\\memcell\u001b]8;;\u001b\\" },
  { name: "a backspace", text: "FAIL\b\b\b\bPASS" },
  { name: "a bidirectional override", text: "\u202eSSAP\u202c" },
  { name: "a bidirectional isolate", text: "\u2067SSAP\u2069" },
  { name: "a line separator", text: "x\u2028PASS\u2029PASS" },
  { name: "a next line", text: "x\u0085PASS" },
  { name: "invisible characters", text: "\u200b\u2060\ufeff\u00ad\u115f\u3164\ufe0f\u{e0041}" },
  { name: "a lone surrogate", text: "\ud800" },
  { name: "a NUL", text: "\u0000" },
];

/** Everything but visible characters, spaces and the report's own line feeds. */
export const unsafeOnTerminal: RegExp = /[^\P{C}\n]|[\u2028\u2029]|\p{Default_Ignorable_Code_Point}/u;
