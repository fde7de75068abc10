const units = ["B", "K", "M", "G"];

/** A size as listings show it: "0B", "512B", "5.5K", "2M". */
export function fileSize(bytes: number): string {
  const unit = Math.min(units.length - 1, units.filter((_, at) => bytes >= 1024 ** (at + 1)).length);
  const size = bytes / 1024 ** unit;
  return `${Number.isInteger(size) ? size : size.toFixed(1)}${units[unit]}`;
}
