/** The public API of `memcell/ai-sdk`. */
export { claudeMemory } from "./claude-memory.ts";
export { exposureMiddleware } from "./exposure-middleware.ts";
export type { ExposureMiddleware } from "./exposure-middleware.ts";
export { memcellTools } from "./memcell-tools.ts";
export type { MemcellTool, ToolsRuntime } from "./memcell-tools.ts";
export type { CallOptions, ContextOf, ToolOptions } from "./call-context.ts";
