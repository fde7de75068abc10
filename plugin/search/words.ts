/**
 * Letters, digits and marks of every script. Made when it is needed: the engine's form of it takes 12 KB, which would be in
 * every instance.
 */
const word = (): RegExp => (madeWord ??= new RegExp(String.raw`[\p{L}\p{M}\p{N}]+`, "gu"));
let madeWord: RegExp | null = null;

/** Scripts that are written without spaces, and Korean, whose words carry endings. */
const unspaced = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\u30fc]+/u;
const everyUnspaced = new RegExp(unspaced, "gu");
const twoCharacters = /../gu;

/** A word counts by its first characters only, so that encoded data does not fill the index. */
export const wordUnitsMax = 40;

/**
 * Returns the words of a folded text. Chinese, Japanese and Korean text becomes pairs of neighbouring characters; a
 * single character stays itself.
 */
export function wordsIn(folded: string): string[] {
  if (unspaced.test(folded)) return (folded.replace(everyUnspaced, " $& ").match(word()) ?? []).flatMap(partsOf);
  const words = folded.match(word()) ?? [];
  return words.some(isLong) ? words.map(cut) : words;
}

export function isUnspaced(text: string): boolean {
  return unspaced.test(text);
}

function partsOf(each: string): string[] {
  return unspaced.test(each) ? pairsIn(each) : [cut(each)];
}

/** Every second pair first: a loop over the characters takes three times as long. */
function pairsIn(text: string): string[] {
  const [first = ""] = text;
  const rest = text.slice(first.length);
  return rest === "" ? [text] : [...(text.match(twoCharacters) ?? []), ...(rest.match(twoCharacters) ?? [])];
}

const isLong = (each: string): boolean => each.length > wordUnitsMax;

/** Without half of a surrogate pair at the end. */
const cut = (text: string): string =>
  isLong(text) ? text.slice(0, wordUnitsMax).replace(/[\ud800-\udbff]$/, "") : text;
