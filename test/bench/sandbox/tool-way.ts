import type { CallEnvironment } from "./environment.ts";

/** Where a tool's code runs. */
export interface ToolWay {
  readonly key: string;
  readonly name: string;
  /** Whether a runtime's call takes this way. The bound is for its figure. */
  readonly isOurs: boolean;
  /** Done before each call, not timed. */
  prepare?(): Promise<void>;
  /** Throws unless the tool succeeds. */
  run(call: ToolCall): Promise<void>;
}

export interface ToolCall {
  readonly tool: string;
  readonly exportName: string;
  /** JSON text. */
  readonly input: string;
  readonly environment: CallEnvironment;
}
