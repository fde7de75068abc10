/** Whether standard output is a terminal that shows colours. */
export function isColoured(): boolean {
  const { stdout } = process;
  return stdout.isTTY && stdout.hasColors();
}
