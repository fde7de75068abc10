/** Text whose lines end with carriage returns alone, as on the first Macs. With one line feed in it, a return is no line end. */
export const hasReturnsAlone = (text: string): boolean => !text.includes("\n") && text.includes("\r");

export const withLineFeeds = (text: string): string => (hasReturnsAlone(text) ? text.replaceAll("\r", "\n") : text);
