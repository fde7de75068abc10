/** The times of blocks: as they are written, and as points in time, whatever form people gave them. */

export interface PointInTime {
  /** Since 1970, in UTC. */
  readonly seconds: number;
  /** The digits behind the decimal point, without zeros at the end: as texts they compare as the fractions do. */
  readonly fraction: string;
}

/** What a block without a time counts as, and one whose time cannot be read. */
const oldest: PointInTime = { seconds: 0, fraction: "" };

/** A time as agentool writes it, from one as ECMAScript does: `+00:00` for `Z`, and no fraction of zero. */
export function formatAt(isoTime: string): string {
  return isoTime.replace(/(?:\.000)?Z$/, "+00:00");
}

/** The file for the day of a time. */
export function dailyPath(isoTime: string): string {
  return `${isoTime.slice(0, 10).replaceAll("-", "/")}.md`;
}

const date = "(\\d{4})(?:-(\\d\\d)(?:-(\\d\\d)";
const time = "(\\d\\d):(\\d\\d):(\\d\\d)(?:\\.(\\d+))?(?:[Zz]|([+-])(\\d\\d):(\\d\\d))";
const form = new RegExp(`^${date}(?:[Tt ]${time})?)?)?$`);

/** RFC 3339 with any offset and fraction; or a date, a month or a year alone, which is its first instant in UTC. */
export function readAt(at: string): PointInTime {
  return at === "" ? oldest : (parseAt(at) ?? oldest);
}

export function parseAt(at: string): PointInTime | null {
  const found = form.exec(at);
  if (!found) return null;
  const [, year, month = "01", day = "01", hour = "00", minute = "00", second = "00", fraction = ""] = found;
  const [sign, offsetHour = "00", offsetMinute = "00"] = found.slice(8);
  const dayMs = Date.parse(`${year}-${month}-${day}T00:00:00.000Z`);
  // A day that no month has would be taken for one of the next.
  if (Number.isNaN(dayMs) || new Date(dayMs).getUTCDate() !== Number(day)) return null;
  // Second 60 is a leap second, and counts as the first of the next minute.
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return null;
  if (Number(offsetHour) > 23 || Number(offsetMinute) > 59) return null;
  const offset = (sign === "-" ? -60 : 60) * (Number(offsetHour) * 60 + Number(offsetMinute));
  const seconds = dayMs / 1000 + Number(hour) * 3600 + Number(minute) * 60 + Number(second) - offset;
  return { seconds, fraction: withoutLastZeros(fraction) };
}

/** No regular expression: between two digits that are none, it would look at a row of zeros once for each of them. */
function withoutLastZeros(digits: string): string {
  let end = digits.length;
  while (end > 0 && digits[end - 1] === "0") end--;
  return digits.slice(0, end);
}

/** Below zero when the first is older. */
export function compareTimes(a: PointInTime, b: PointInTime): number {
  if (a.seconds !== b.seconds) return a.seconds - b.seconds;
  return a.fraction === b.fraction ? 0 : a.fraction < b.fraction ? -1 : 1;
}
