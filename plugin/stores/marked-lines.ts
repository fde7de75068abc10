/** Texts that others have written, so that none of their lines can be taken for one of ours. */
const lineEnd = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/;

/** All that some reader takes for the end of a line ends one here. */
export const linesOfOthers = (text: string): string[] => text.split(lineEnd);

/** Each line after a mark. */
export const marked = (text: string): string => `| ${linesOfOthers(text).join("\n| ")}`;
