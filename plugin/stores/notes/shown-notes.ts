/** Notes as an answer has them, within its bounds. */
import { oneLine } from "../../kit/one-line.ts";
import { jsonBytes } from "./json-bytes.ts";
import { noteLimits } from "./note-limits.ts";
import type { StoredNote } from "./note-store.ts";

const { answerBytesMax, beginningCharsMax } = noteLimits;

/** As many of the notes as fit with the beginning of their content; the first ones whole, as far as there is room. */
export function shownNotes(notes: readonly StoredNote[]): StoredNote[] {
  let room = answerBytesMax;
  const beginnings: StoredNote[] = [];
  for (const note of notes) {
    const beginning = { ...note, content: beginningOf(note) };
    room -= jsonBytes(beginning);
    if (room < 0) return beginnings;
    beginnings.push(beginning);
  }
  return beginnings.map((beginning, at) => {
    const whole = notes[at] ?? beginning;
    const more = jsonBytes(whole) - jsonBytes(beginning);
    if (more > room) return beginning;
    room -= more;
    return whole;
  });
}

const beginningOf = ({ content }: StoredNote): string => {
  const line = oneLine(content, beginningCharsMax, "");
  return line === content ? line : `${line}…`;
};
