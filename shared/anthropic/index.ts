/** The public API of `memcell/anthropic`. */
export { memoryTool } from "./memory-tool.ts";
export type { MemoryToolRuntime } from "./memory-command.ts";
