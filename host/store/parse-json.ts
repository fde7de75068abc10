/** `undefined` if the text is no JSON. People and other programs can write to the disk. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
