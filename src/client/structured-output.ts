import type { ChatResponse } from '../chat/chat-response.js';
import { parseJson, type JsonValue } from '../internal/json.js';
import { StructuredOutputError, type JsonError } from '../errors.js';
import {
  isStandardSchema,
  toJsonSchema,
  type InferOutput,
  type InputSchema,
} from '../json-schema/to-json-schema.js';
import { dropOptionalNulls } from '../json-schema/drop-optional-nulls.js';
import { jsonSchemaValidator, standardValidator } from '../json-schema/validator.js';

/** Instructions to the model about the format of its answer. */
export function outputFormat(schema: InputSchema): string {
  return `Answer with JSON (RFC 8259) only: no explanation, no code fence. It must fit this JSON Schema:\n${JSON.stringify(toJsonSchema(schema, 'entity(…)'))}`;
}

/**
 * Parses the value of an answer; ignores thinking before it and a code fence around it.
 * @throws {@link StructuredOutputError} if there is no JSON, or it does not fit
 */
export async function parseEntity<S extends InputSchema>(
  schema: S,
  response: ChatResponse,
): Promise<InferOutput<S>> {
  const text = response.text ?? '';
  const refusal = response.message.refusal;
  if (refusal !== undefined)
    throw new StructuredOutputError(`The model refused: ${refusal}`, text, ['the model refused']);
  const value = readJson(text, response.hasFinishReason('length', 'max_tokens'));
  const json = toJsonSchema(schema, 'entity(…)');
  const given = dropOptionalNulls(value, json); // strict mode has null instead of optional fields
  const checked = await (
    isStandardSchema(schema) ? standardValidator(schema) : jsonSchemaValidator(json)
  )(given);
  if ('value' in checked) return checked.value as InferOutput<S>;
  throw new StructuredOutputError(
    `The answer does not fit the schema: ${checked.issues.join('; ')}`,
    text,
    checked.issues,
  );
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
  throw new StructuredOutputError(`The answer is not JSON: ${reason}${hint}`, text, [reason], {
    cause: failure,
  });
}

const THINKING = /^[\s\S]*<\/(?:think|thinking|reasoning)>/i;
const FENCED = /```[^\n`]*\n([\s\S]*?)```/;

/** Candidates for the JSON: the whole text, the text after the thinking, a code fence in it. */
function candidates(text: string): readonly string[] {
  const answer = text.replace(THINKING, '').trim();
  const fenced = FENCED.exec(answer)?.[1];
  return [...new Set([text.trim(), answer]), ...(fenced === undefined ? [] : [fenced])];
}
