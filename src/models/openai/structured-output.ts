import { providerAt } from '../http/provider-names.js';

/** Option for structured output; alike for the models of this folder. */
export interface StructuredOutputOption {
  /**
   * Sends the schema of `entity(schema)` with the request, strict (`native`), or describes it in the
   * prompt (`text`). A schema that strict mode cannot express is described too.
   * @default 'native', but 'text' for servers known to ignore or reject it (Anthropic, DeepSeek)
   */
  readonly structuredOutput?: 'native' | 'text' | undefined;
}

/** Providers whose compatible servers do not take a schema of the answer. */
const TEXT_ONLY: ReadonlySet<string> = new Set(['anthropic', 'deepseek']);

/** True if the server at an address takes a schema of the answer. */
export function takesSchema(
  baseURL: string,
  { structuredOutput: chosen }: StructuredOutputOption,
): boolean {
  if (chosen !== undefined) return chosen === 'native';
  return !TEXT_ONLY.has(providerAt(baseURL, 'openai').name);
}
