/** The fields of the commands of `memory`. Each command takes some of them. Models often send the others, too, empty. */
export const memoryFields = ["path", "content", "old_str", "new_str", "query", "ttl", "agent", "level"] as const;

/** The names that some of them have in Anthropic's memory tool. Models know them, so the commands take them, too. */
export const anthropicNames = ["file_text", "old_path", "new_path"] as const;
