/** The context of a model's tool call: the program's own, and what the AI SDK tells about the call. */
import { originClasses } from "../origin.ts";
import type { OriginClass } from "../origin.ts";
import type { ExposureMiddleware } from "./exposure-middleware.ts";
import { SeenTexts } from "./exposure.ts";

/** What the AI SDK passes to a tool. */
export interface CallOptions {
  readonly toolCallId: string;
  /** What the model was sent when it made the call. In Mastra, only the messages that the program has passed. */
  readonly messages: readonly unknown[];
  readonly abortSignal?: AbortSignal | undefined;
  /** What the program has passed for its tools; `experimental_context` before ai 7. */
  readonly context?: unknown;
  readonly experimental_context?: unknown;
  /** Of Mastra. */
  readonly requestContext?: unknown;
}

/** A context, as for `runtime.call`, or a function that makes one for each call, for tools that serve several users. */
export type ContextOf<Context> = Context | ((call: CallOptions) => Context);

export interface ToolOptions {
  /**
   * The names of the program's own tools, whose results are the program's or the user's own data. What any other tool has
   * returned is `tool_external`: what a model writes after it waits for the user's approval. Default: none.
   */
  readonly ownTools?: readonly string[];
  /**
   * The middleware that is around the model, from `exposureMiddleware`. Needed if the provider executes tools of its own.
   * Default: what the AI SDK tells a tool is all that the model has seen.
   */
  readonly middleware?: ExposureMiddleware;
}

/** How exposure is derived. */
interface Deriving {
  /** The names of the tools whose results are the program's own, and memcell's. */
  readonly own: ReadonlySet<string>;
  readonly middleware: ExposureMiddleware | undefined;
}

/** `tools`: memcell's. One of them shows what others have answered: a run's events have results of any tool. */
export function derivingFrom(
  tools: readonly { readonly name: string }[],
  { ownTools = [], middleware }: ToolOptions,
): Deriving {
  const memoryTools = tools.map(({ name }) => name).filter((name) => name !== "ReadRunHistory");
  return { own: new Set([...memoryTools, ...ownTools]), middleware };
}

interface Stated {
  readonly callId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly origin?: object | undefined;
  readonly exposedTo?: readonly OriginClass[] | undefined;
}

/** What the program says itself counts; the rest is derived from the call. */
export async function contextOf<Context extends object>(
  of: ContextOf<Context>,
  call: CallOptions,
  deriving: Deriving,
): Promise<Context> {
  const ctx = typeof of === "function" ? of(call) : of;
  const stated: Stated = ctx;
  const signals = [stated.signal, call.abortSignal].filter((signal) => signal !== undefined);
  return {
    ...ctx,
    callId: stated.callId ?? callIdOf(call),
    origin: stated.origin ?? { class: "model_inference" },
    exposedTo: stated.exposedTo ?? (await exposureOf(call, deriving)),
    signal: signals.length > 0 ? AbortSignal.any(signals) : undefined,
  };
}

async function exposureOf(call: CallOptions, { own, middleware }: Deriving): Promise<OriginClass[]> {
  const answers = (await middleware?.seenBefore(call.toolCallId)) ?? [];
  // Mastra does not say what tools have returned since the program's own messages: that can be anything.
  const isToldAll = answers.length > 0 || !(middleware || "requestContext" in call);
  const told = new SeenTexts().addMessages(isToldAll ? call.messages : undefined);
  const found = new Set([told, ...answers].flatMap((seen) => Array.from(seen.classes(own))));
  return originClasses.filter((each) => found.has(each));
}

/** Some providers make ids that memcell does not take. */
const callIdOf = ({ toolCallId: id }: CallOptions): string | undefined =>
  /^[\x20-\x7e]{1,128}$/.test(id) ? id : undefined;
