/** Whether a text holds another. The guest's engine cuts text four times as fast as it searches it. */
export function holds(text: string, part: string): boolean {
  return part === "" || text.split(part, 2).length > 1;
}
