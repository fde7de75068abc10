import type { HeldHome } from "../store/held-homes.ts";
import { digestOf } from "../store/reading.ts";
import { placeOfKey } from "../values/change-set.ts";
import { passOver } from "./operate.ts";

/**
 * A content by its hash: from the history, or from a file that has it still, such as one in the trash. `null` if it is
 * kept nowhere. `inHistory`: what the history has of several contents, if it was asked for them.
 */
export async function keptContent(
  held: HeldHome,
  sha256: string,
  inHistory?: ReadonlyMap<string, Uint8Array>,
): Promise<Uint8Array | null> {
  const { history } = held;
  const kept = (inHistory ?? (await history.contentsOf([sha256]))).get(sha256);
  if (kept !== undefined) return kept;
  for (const [place, origin] of await history.origins()) {
    if (origin.sha256 !== sha256) continue;
    const { scope, path } = placeOfKey(place);
    // A file that cannot be read keeps nothing.
    const found = await held.bytesOf(scope, path).catch(passOver);
    if (found !== null && digestOf(Buffer.from(found)) === sha256) return found;
  }
  return null;
}
