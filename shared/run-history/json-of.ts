import { base64Of } from "./base64-bytes.ts";
import { copyJson } from "./copy-json.ts";
import { stringifyLossless } from "./lossless.ts";

/** The JSON text of a value, with every digit. Bytes become base64, as in Go. `place`: where it is, for an error. */
export function jsonOf(value: unknown, place: string): string {
  return stringifyLossless(copyJson(value, place), (_key, each) =>
    each instanceof Uint8Array ? base64Of(each) : each,
  );
}
