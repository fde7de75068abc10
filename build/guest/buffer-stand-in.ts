/** The part of Node's `Buffer` that gray-matter uses: it makes one from a string and turns it back into that string. */
export const Buffer = {
  from: (text: string): { toString(): string } => ({ toString: () => text }),
  isBuffer: (): boolean => false,
};
