import type { CallEnvironment } from "./environment.ts";

/** Where a tool's code runs. */
export interface ToolWay {
  readonly key: string;
  readonly name: string;
  /** Whether a call of the runtime takes this way; its figure is the one that is promised. */
  readonly isOurs: boolean;
  /** What is done while nobody waits, before each call. */
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
