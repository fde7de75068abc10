/** The times of blocks: as text, and as points in time. People write them in many forms. */

export interface PointInTime {
  /** Since 1970, in UTC. */
  readonly seconds: number;
  /** The digits after the decimal point, without trailing zeros. Texts of this form compare like the fractions. */
  readonly fraction: string;
}

/** The time of a block that has no valid time. */
const oldest: PointInTime = { seconds: 0, fraction: "" };

/** Converts a time from ECMAScript's form to agentool's: `+00:00` for `Z`, and no zero fraction. */
export function formatAt(isoTime: string): string {
  return isoTime.replace(/(?:\.000)?Z$/, "+00:00");
}

/** The path of the file for a time's day. */
export function dailyPath(isoTime: string): string {
  return `${isoTime.slice(0, 10).replaceAll("-", "/")}.md`;
}

const date = "(\\d{4})(?:-(\\d\\d)(?:-(\\d\\d)";
const time = "(\\d\\d):(\\d\\d):(\\d\\d)(?:\\.(\\d+))?(?:[Zz]|([+-])(\\d\\d):(\\d\\d))";
const form = new RegExp(`^${date}(?:[Tt ]${time})?)?)?$`);

/**
 * Reads RFC 3339 with any offset and fraction; or a date, a month or a year alone, which means its first instant in
 * UTC. Any other text counts as 1970.
 */
export function readAt(at: string): PointInTime {
  return at === "" ? oldest : (parseAt(at) ?? oldest);
}

export function parseAt(at: string): PointInTime | null {
  const found = form.exec(at);
  if (!found) return null;
  const [, year, month = "01", day = "01", hour = "00", minute = "00", second = "00", fraction = ""] = found;
  const [sign, offsetHour = "00", offsetMinute = "00"] = found.slice(8);
  const dayMs = Date.parse(`${year}-${month}-${day}T00:00:00.000Z`);
  // JavaScript moves a day that the month does not have into the next month.
  if (Number.isNaN(dayMs) || new Date(dayMs).getUTCDate() !== Number(day)) return null;
  // Second 60 is a leap second and counts as the first second of the next minute.
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return null;
  if (Number(offsetHour) > 23 || Number(offsetMinute) > 59) return null;
  const offset = (sign === "-" ? -60 : 60) * (Number(offsetHour) * 60 + Number(offsetMinute));
  const seconds = dayMs / 1000 + Number(hour) * 3600 + Number(minute) * 60 + Number(second) - offset;
  return { seconds, fraction: withoutLastZeros(fraction) };
}

/** A loop, because a regular expression would check a row of zeros between two other digits once for each zero. */
function withoutLastZeros(digits: string): string {
  let end = digits.length;
  while (end > 0 && digits[end - 1] === "0") end--;
  return digits.slice(0, end);
}

/** Negative if the first is older. */
export function compareTimes(a: PointInTime, b: PointInTime): number {
  if (a.seconds !== b.seconds) return a.seconds - b.seconds;
  return a.fraction === b.fraction ? 0 : a.fraction < b.fraction ? -1 : 1;
}
