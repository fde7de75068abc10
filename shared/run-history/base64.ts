/** Whether a text is standard base64 with padding. A regular expression with a group would need memory for each part. */
export function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
}
