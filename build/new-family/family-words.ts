/**
 * The words of a new family: what each word of the sample becomes. Names of tools and exports are the family's own name and
 * a verb, so two families that are called differently cannot have one in common.
 */

/** The family that is copied, and where its parts lie. */
export const sampleName = "sample";

/** What may stand around the name in a word: `sample_write` is one, `samples` is not. */
const sampleWord = /(?<![A-Za-z0-9_])sample(?:_|(?![A-Za-z0-9_]))/g;

/** The text of a file of the sample, or its path, for a family of another name. */
export function renamed(text: string, name: string): string {
  return text.replaceAll(sampleWord, (word) => (word.endsWith("_") ? `${exportPrefix(name)}_` : name));
}

/** `reading-list` to `reading_list`, as an export and a tool are called. */
const exportPrefix = (name: string): string => name.replaceAll("-", "_");

/** The sample lies among the test plugins, two folders further from what it imports. */
export function movedImports(text: string): string {
  return text
    .replaceAll('"../../../plugin/', '"../')
    .replaceAll('"../../../shared/', '"../../shared/')
    .replaceAll('"../plugins/', '"../../plugin/');
}
