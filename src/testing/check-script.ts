import { ChatResponse } from '../core/chat/chat-response.js';
import { describe } from '../core/errors/describe.js';
import { InvalidArgumentError } from '../core/errors/errors.js';
import {
  CHECKED_APART,
  checkOption,
  checkOptions,
  isPlainObject,
  PLAIN_OBJECT,
  required,
  rule,
  TEXT,
  WAIT,
  type OptionRules,
} from '../core/internal/options.js';
import type { ScriptedAnswer, ScriptedParts, ScriptedToolCall } from './scripted-chat-model.js';

const WHERE = 'ScriptedChatModel';
const STRING = rule('a string', (value) => typeof value === 'string');
const LIST = rule('an array', Array.isArray);
const SCRIPT = rule(
  'a text, an array of answers, or a function that returns an answer',
  (value) => typeof value === 'string' || Array.isArray(value) || typeof value === 'function',
);
const PARTS: OptionRules<ScriptedParts> = {
  text: STRING,
  toolCalls: LIST,
  reasoning: STRING,
  refusal: STRING,
  citations: LIST,
  finishReason: STRING,
  usage: PLAIN_OBJECT,
  model: TEXT,
  metadata: PLAIN_OBJECT,
  deltas: LIST,
  delay: WAIT,
  error: CHECKED_APART,
};
const CALL: OptionRules<ScriptedToolCall> = {
  id: STRING,
  name: required(STRING),
  arguments: rule(
    'an object, or JSON text',
    (value) => typeof value === 'string' || isPlainObject(value),
  ),
  deltas: LIST,
  metadata: PLAIN_OBJECT,
};

/** @throws {@link InvalidArgumentError} if a model cannot play the script */
export function checkScript(script: unknown): void {
  checkOption(WHERE, 'the script', script, SCRIPT);
  if (Array.isArray(script)) for (const [at, answer] of script.entries()) checkedAnswer(answer, at);
}

/** @throws {@link InvalidArgumentError} if it is no text, error, response or parts of one */
export function checkedAnswer(answer: unknown, index: number): ScriptedAnswer {
  if (typeof answer === 'string' || answer instanceof Error || answer instanceof ChatResponse)
    return answer;
  const where = `${WHERE}: answer ${index}`;
  if (!isPlainObject(answer) || answer instanceof Promise)
    throw new InvalidArgumentError(
      `${where} must be a text, an error, a ChatResponse or its parts, not ${answer instanceof Promise ? 'a promise; a function may return one' : describe(answer)}`,
    );
  checkOptions<ScriptedParts>(where, answer, PARTS);
  const { toolCalls = [] }: ScriptedParts = answer;
  for (const [at, call] of toolCalls.entries()) {
    checkOption(where, `toolCalls[${at}]`, call, PLAIN_OBJECT);
    checkOptions(where, call, CALL, `toolCalls[${at}].`);
  }
  return answer;
}
