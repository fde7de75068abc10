/**
 * The fields of the commands of `memory`. Each command takes some of them, and `null` for the others: a model in a
 * strict mode sends all.
 */
export const memoryFields = ["path", "content", "old_str", "new_str", "query", "ttl", "agent", "level"] as const;
