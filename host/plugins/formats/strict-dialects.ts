/** The parts of JSON Schema that APIs document for their strict modes. A schema with any other keyword is refused. */
export interface StrictDialect {
  /** The bounds of values that the API enforces. */
  readonly bounds: ReadonlySet<string>;
  /** The values of `format` that it knows. */
  readonly textFormats: ReadonlySet<string>;
  /** Whether every field must be required. An optional one then can be `null`. */
  readonly isAllRequired: boolean;
  /** How deep schemas can be nested. */
  readonly depthMax: number;
}

const textFormats = ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

/**
 * "Supported schemas" in OpenAI's guide on structured outputs. Lengths of strings are not on its list, and the API can
 * refuse them. Fine-tuned models know no bounds at all.
 */
export const openaiDialect: StrictDialect = {
  bounds: new Set([
    "pattern",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minItems",
    "maxItems",
  ]),
  textFormats: new Set(textFormats),
  isAllRequired: true,
  depthMax: 10,
};

/**
 * "JSON Schema limitations" in Anthropic's guide on structured outputs. It knows patterns and `minItems`, but only
 * simple ones. Fields can be optional. It names no depth.
 */
export const anthropicDialect: StrictDialect = {
  bounds: new Set(),
  textFormats: new Set([...textFormats, "uri"]),
  isAllRequired: false,
  depthMax: 10,
};
