/** Numbers of JSON in any of their forms: `number`, `bigint`, or a `LosslessNumber` of any copy of its library. */
export interface ExactNumber {
  readonly isLosslessNumber: true;
  toString(): string;
}

const marker = Symbol.for("lossless-json.LosslessNumber");

export function isNumeric(value: unknown): value is number | bigint | ExactNumber {
  if (typeof value === "number" || typeof value === "bigint") return true;
  return typeof value === "object" && value !== null && Reflect.get(value, marker) === true;
}

/**
 * The whole part of a number. A number without fraction and exponent is exact; any other is read as a float64 first, as
 * in goa-ai. `null` for what a float64 cannot hold.
 */
export function wholeOf(value: number | bigint | ExactNumber): bigint | null {
  const text = String(value);
  // No float64 has more digits.
  if (/^-?\d{1,309}$/.test(text)) return BigInt(text);
  const float = Number(text);
  return Number.isFinite(float) ? BigInt(Math.trunc(float)) : null;
}
