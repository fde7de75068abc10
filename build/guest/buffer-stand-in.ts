/** What gray-matter expects of Node's `Buffer`: it makes one of a string, only to turn it back into that string. */
export const Buffer = {
  from: (text: string): { toString(): string } => ({ toString: () => text }),
  isBuffer: (): boolean => false,
};
