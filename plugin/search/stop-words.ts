/**
 * English words that say nothing about an entry's subject. The list is short, because a longer one finds less where a
 * query repeats a sentence. `s`, `t`, `ll`, `re` and the like are what an apostrophe leaves behind.
 */
export const stopWords: ReadonlySet<string> = new Set(
  (
    "a an and are as at be but by can d do does for from how i if in is it ll m of on or re s t that the this to ve was " +
    "what when where which who why will with you your"
  ).split(" "),
);
