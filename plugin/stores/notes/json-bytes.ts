import { utf8Bytes } from "../../../shared/text.ts";

/** The bytes of a value as JSON in UTF-8. */
export const jsonBytes = (value: unknown): number => utf8Bytes(JSON.stringify(value));
