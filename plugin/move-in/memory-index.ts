/** `MEMORY.md` of Claude Code or of this memory: its lines say what the files beside it are about. */
import { decodedName } from "../../shared/encoded-name.ts";
import { counted } from "../../shared/text.ts";
import { withLineFeeds } from "../kit/file-text.ts";
import { hasWords } from "../user-memory/index-description.ts";
import { entryLineIn, saidIn } from "../user-memory/index-line.ts";
import type { FilePiece, Reading } from "./reading.ts";

/** A longer one is no hook. */
const hookCharsMax = 300;
/** What `carry` has room for; an index has some 25 KB. */
const hooksCharsMax = 20_000;

/**
 * Keeps what the lines say for the files that come after it. Returns whether it is an index and nothing else: other words in
 * it are a note.
 */
export function readIndex({ intake, hooks }: Reading, { path, text }: FilePiece): boolean {
  const folder = path.slice(0, path.lastIndexOf("/") + 1);
  let [listed, isIndex, chars] = [0, true, JSON.stringify(hooks).length];
  for (const line of withLineFeeds(text).split("\n")) {
    const found = entryLineIn(line.replace(/\r$/, ""));
    if (found === null) {
      isIndex &&= !hasWords(line) || /^#{1,6}\s/.test(line);
      continue;
    }
    listed++;
    const said = saidIn(found);
    if (said === "") continue;
    const described = (folder + decodedName(found.path)).normalize("NFC");
    chars += said.length + described.length;
    if (said.length > hookCharsMax || chars > hooksCharsMax) isIndex = false;
    else hooks[described] ??= said;
  }
  if (isIndex && listed > 0)
    intake.leave(
      path,
      `it is the index of ${counted(listed, "file")}: here, each line is made of an entry's description`,
    );
  return isIndex && listed > 0;
}
