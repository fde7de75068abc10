/** Where a text has another for the first time, or -1. In the guest's engine, `split` is twice as fast as `indexOf`. */
export function positionOf(text: string, part: string): number {
  const position = text.split(part, 1)[0]?.length ?? 0;
  return position < text.length ? position : -1;
}
