/** The data of `user_message` and `assistant_message`: a text, and optionally a JSON value. */
import { DataFields } from "../data-map.ts";
import type { DataMap, Forms } from "../data-map.ts";

/** What a person said. */
export interface UserMessageData {
  readonly message: string;
  /** Any JSON value. Default: none. */
  readonly structured?: unknown;
}

/** What an agent answered. */
export interface AssistantMessageData {
  readonly message: string;
  /** Any JSON value. Default: none. */
  readonly structured?: unknown;
}

type Message = UserMessageData & AssistantMessageData;

export function readMessage(type: "user_message" | "assistant_message", data: unknown, forms: Forms): Message {
  const fields = new DataFields(type, data, forms);
  const structured = fields.value("structured");
  return { message: fields.text("message"), ...(structured !== undefined && { structured }) };
}

export function writeMessage({ message, structured }: Message): DataMap {
  const hasStructured = structured !== undefined && structured !== null;
  return { ...(message !== "" && { message }), ...(hasStructured && { structured }) };
}
