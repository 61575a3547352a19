import type { ChatResponse } from '../chat/chat-response.js';
import { parseJson, type JsonValue } from '../chat/json.js';
import { StructuredOutputError } from '../errors.js';
import { isStandardSchema, toJsonSchema, type InferInput, type InputSchema } from '../tool/input-schema.js';
import { jsonSchemaValidator, standardValidator } from '../tool/validation.js';

/** What the model is told about the form of its answer. */
export function outputFormat(schema: InputSchema): string {
  return `Answer with JSON (RFC 8259) only: no explanation, no code fence. It must fit this JSON Schema:\n${JSON.stringify(toJsonSchema(schema, 'entity'))}`;
}

/**
 * Reads a value from an answer; thinking blocks and a code fence around it are passed over.
 * @throws {@link StructuredOutputError} if there is no JSON, or it does not fit
 */
export async function parseEntity<S extends InputSchema>(schema: S, response: ChatResponse): Promise<InferInput<S>> {
  const text = response.text ?? '';
  const refusal = response.message.refusal;
  if (refusal !== undefined) throw new StructuredOutputError(`The model refused: ${refusal}`, text, ['the model refused']);
  const value = readJson(text);
  const checked = await (isStandardSchema(schema) ? standardValidator(schema) : jsonSchemaValidator(toJsonSchema(schema, 'entity')))(value);
  if ('value' in checked) return checked.value as InferInput<S>;
  throw new StructuredOutputError(`The answer does not fit the schema: ${checked.issues.join('; ')}`, text, checked.issues);
}

function readJson(text: string): JsonValue {
  try {
    return parseJson(clean(text));
  } catch (error) {
    const reason = (error as Error).message;
    throw new StructuredOutputError(`The answer is not JSON: ${reason}`, text, [reason], { cause: error });
  }
}

const THINKING = /^\s*<(think|thinking|reasoning)>[\s\S]*?<\/\1>/i;
const FENCE = /^```[\w-]*\s*\n([\s\S]*?)\n?```$/;

function clean(text: string): string {
  let rest = text;
  while (THINKING.test(rest)) rest = rest.replace(THINKING, '');
  rest = rest.trim();
  return FENCE.exec(rest)?.[1] ?? rest;
}
