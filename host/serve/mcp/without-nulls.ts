/**
 * A message without parameters that are `null`, as some clients send them in place of nothing: MCP has none that can be
 * `null`. The arguments of a tool are parameters, and what is in them is the tool's.
 */
export function withoutNulls<Message>(message: Message): Message {
  if (typeof message !== "object" || message === null || !("params" in message)) return message;
  const { params, ...rest } = message;
  if (params === null) return rest as Message;
  if (typeof params !== "object" || !Object.values(params).includes(null)) return message;
  return {
    ...rest,
    params: Object.fromEntries(Object.entries(params).filter(([, value]) => value !== null)),
  } as Message;
}
