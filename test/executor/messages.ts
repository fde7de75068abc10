/** What an executor and a model say to each other. */
import type { AnthropicTool } from "memcell";

/** A tool call that the model requests. */
export interface ToolUse {
  /** The model's own id, which the audit log uses as the call id. */
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

/** The result of a tool call, for the model. */
export interface ToolReply {
  readonly id: string;
  readonly isError: boolean;
  readonly content: string;
}

/** A turn without tool uses ends the movement. */
export interface ModelTurn {
  readonly text: string;
  readonly toolUses: readonly ToolUse[];
}

/** A task, a turn of the model, or the results of the turn's tool calls. */
export type Message = string | ModelTurn | readonly ToolReply[];

export interface ModelRequest {
  readonly system: string;
  readonly tools: readonly AnthropicTool[];
  /** The last turns of earlier movements of the run, then this movement's task and its turns. */
  readonly messages: readonly Message[];
}

export type Model = (request: ModelRequest) => Promise<ModelTurn>;

export interface Movement {
  readonly name: string;
  readonly agent: string;
  /** The movements of one run continue each other. */
  readonly run: string;
  readonly instructions: string;
  readonly task: string;
}
