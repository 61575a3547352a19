/** A JSON Schema as plain data. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** What a model is told about a tool. */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments; its type is `object`. */
  readonly inputSchema: JsonSchema;
  /** Whether the provider is asked to enforce the schema; undefined leaves it to the model's own setting. */
  readonly strict?: boolean;
  /** Whether the provider itself is to hide the tool until its own tool search finds it (`defer_loading`). @default false */
  readonly deferLoading?: boolean | undefined;
}

/** Anything with a definition, such as a tool: what a prompt offers to a model. */
export interface OfferedTool {
  readonly definition: ToolDefinition;
}
