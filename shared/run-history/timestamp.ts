/**
 * Timestamps in RFC 3339 with up to nine digits of a second. They are kept as text: a JavaScript date holds only
 * milliseconds.
 */
const form = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

export const timestampAllowed = "RFC 3339 with a time zone and at most nine digits of a second, years 0000 to 9999";

/** Go's zero time, which means that there is none. */
export const zeroTimestamp = "0001-01-01T00:00:00Z";

/** Returns the same moment in UTC, without zeros at the end of a second's fraction; `null` for any other text. */
export function normalTimestamp(text: string): string | null {
  const parts = form.exec(text);
  if (parts === null) return null;
  const [, year, month, day, hour, minute, second, fraction = "", sign, zoneHour = "0", zoneMinute = "0"] = parts;
  const clock = `${year}-${month}-${day}T${hour}:${minute}:${second}`;
  const local = Date.parse(`${clock}Z`);
  // `Date.parse` moves a day that the month does not have to the next month, and hour 24 to the next day.
  if (Number.isNaN(local) || new Date(local).toISOString() !== `${clock}.000Z`) return null;
  if (Number(zoneHour) > 23 || Number(zoneMinute) > 59) return null;
  const offsetMs = (Number(zoneHour) * 60 + Number(zoneMinute)) * 60_000 * (sign === "-" ? -1 : 1);
  const utc = new Date(local - offsetMs).toISOString();
  if (utc.length !== "2026-01-01T00:00:00.000Z".length) return null;
  const digits = fraction.replace(/0+$/, "");
  return `${utc.slice(0, -".000Z".length)}${digits && `.${digits}`}Z`;
}

/**
 * A text that sorts like the moment: without its `Z`, a shorter fraction is the beginning of a longer one. The timestamp
 * is one that `normalTimestamp` returned.
 */
export function sortKeyOf(timestamp: string): string {
  return timestamp.slice(0, -1);
}
