/**
 * Renames the sample's words for a new family. Names of tools and exports are the family's name and a verb, so families
 * with different names cannot share one.
 */

/** The family that is copied, and the name of its folder. */
export const sampleName = "sample";

/** Matches the name alone or before `_`: in `sample_write`, but not in `samples`. */
const sampleWord = /(?<![A-Za-z0-9_])sample(?:_|(?![A-Za-z0-9_]))/g;

/** Renames a text or path of the sample for a family of another name. */
export function renamed(text: string, name: string): string {
  return text.replaceAll(sampleWord, (word) => (word.endsWith("_") ? `${exportPrefix(name)}_` : name));
}

/** `reading-list` to `reading_list`, the form in names of exports and tools. */
const exportPrefix = (name: string): string => name.replaceAll("-", "_");

/** Adapts imports: the sample is among the test plugins, two folders farther from the files that it imports. */
export function movedImports(text: string): string {
  return text
    .replaceAll('"../../../plugin/', '"../')
    .replaceAll('"../../../shared/', '"../../shared/')
    .replaceAll('"../plugins/', '"../../plugin/');
}
