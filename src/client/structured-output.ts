import type { ChatResponse } from '../chat/chat-response.js';
import { parseJson, type JsonValue } from '../chat/json.js';
import { StructuredOutputError, type JsonError } from '../errors.js';
import { isStandardSchema, toJsonSchema, type InferInput, type InputSchema } from '../tool/schema/input-schema.js';
import { dropOptionalNulls } from '../tool/schema/optional-nulls.js';
import { jsonSchemaValidator, standardValidator } from '../tool/schema/validation.js';

/** What the model is told about the form of its answer. */
export function outputFormat(schema: InputSchema): string {
  return `Answer with JSON (RFC 8259) only: no explanation, no code fence. It must fit this JSON Schema:\n${JSON.stringify(toJsonSchema(schema, 'entity'))}`;
}

/**
 * Reads a value from an answer; thinking before it and a code fence around it are passed over.
 * @throws {@link StructuredOutputError} if there is no JSON, or it does not fit
 */
export async function parseEntity<S extends InputSchema>(schema: S, response: ChatResponse): Promise<InferInput<S>> {
  const text = response.text ?? '';
  const refusal = response.message.refusal;
  if (refusal !== undefined) throw new StructuredOutputError(`The model refused: ${refusal}`, text, ['the model refused']);
  const value = readJson(text, response.hasFinishReason('length', 'max_tokens'));
  const json = toJsonSchema(schema, 'entity');
  const given = dropOptionalNulls(value, json); // strict mode knows no optional fields, only null
  const checked = await (isStandardSchema(schema) ? standardValidator(schema) : jsonSchemaValidator(json))(given);
  if ('value' in checked) return checked.value as InferInput<S>;
  throw new StructuredOutputError(`The answer does not fit the schema: ${checked.issues.join('; ')}`, text, checked.issues);
}

function readJson(text: string, cut: boolean): JsonValue {
  let failure: unknown;
  for (const candidate of candidates(text)) {
    try {
      return parseJson(candidate);
    } catch (error) {
      failure = error;
    }
  }
  const reason = text.trim() === '' ? 'it is empty' : (failure as JsonError).message;
  const hint = cut ? '. It was cut off at its token limit; raise maxTokens' : '';
  throw new StructuredOutputError(`The answer is not JSON: ${reason}${hint}`, text, [reason], { cause: failure });
}

const THINKING = /^[\s\S]*<\/(?:think|thinking|reasoning)>/i;
const FENCED = /```[^\n`]*\n([\s\S]*?)```/;

/** Where the JSON may be, in this order: all of the text, what follows the thinking, what is fenced in that. */
function candidates(text: string): readonly string[] {
  const said = text.replace(THINKING, '').trim();
  const fenced = FENCED.exec(said)?.[1];
  return [...new Set([text.trim(), said]), ...(fenced === undefined ? [] : [fenced])];
}
