/** The settings that say how far clients are trusted. */
import { nearestName } from "../../shared/nearest-name.ts";
import { isOriginClass, originClasses } from "../../shared/origin.ts";
import type { OriginClass } from "../../shared/origin.ts";
import * as z from "../../shared/zod.ts";
import type { Kind } from "./setting.ts";

/** A class of origin. */
export const originClass: Kind<OriginClass> = {
  form: "text",
  schema: () => z.enum(originClasses, { error: ({ input }) => classAllowed(input) }),
};

/** A client and its class, as in `web-app=direct_user`. */
export const clientOrigin: Kind<string> = {
  form: "text",
  schema: () =>
    z
      .string(clientAllowed)
      .check(z.refine((text) => readClientOrigin(text) !== null, { error: ({ input }) => clientOriginAllowed(input) })),
};

/** Parses `web-app=direct_user` into the client and its class. Returns `null` for any other text. */
export function readClientOrigin(text: string): readonly [client: string, of: OriginClass] | null {
  const [client, of] = partsOf(text);
  return isClient(client) && isOriginClass(of) ? [client, of] : null;
}

/** A client's id can contain `=`, as a URL does; a class cannot. */
function partsOf(text: string): readonly [client: string, of: string] {
  const at = text.lastIndexOf("=");
  return at < 0 ? ["", text] : [text.slice(0, at), text.slice(at + 1)];
}

const isClient = (text: string): boolean => /^[^\p{Cc}\p{Cs}]+$/u.test(text);

const clientAllowed = 'CLIENT=CLASS, as in "web-app=direct_user"';

function clientOriginAllowed(input: unknown): string {
  const [client, of] = partsOf(typeof input === "string" ? input : "");
  return isClient(client) && !isOriginClass(of) ? withNearest(clientAllowed, of) : clientAllowed;
}

function classAllowed(input: unknown): string {
  const allowed = `one of ${originClasses.join(", ")}`;
  return typeof input === "string" ? withNearest(allowed, input) : allowed;
}

function withNearest(allowed: string, of: string): string {
  return of === "" ? allowed : `${allowed}; did you mean ${nearestName(of, originClasses, of)}?`;
}
