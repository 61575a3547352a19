import type { ChatResponse } from '../../core/chat/chat-response.js';
import type { PromptSpec } from '../../core/client/chat-client.js';
import type { JsonValue } from '../../core/internal/json.js';
import { watchForCancel, TurnExecution } from './turn-executions.js';
import { DbosEngine } from './dbos-engine.js';
import { DBOS } from './dbos-sdk.js';
import type { DbosTurn, DbosTurnsOptions } from './dbos-turns-options.js';
import { parseStored } from './recorded-step.js';
import { encodeAnswer, TurnFailure } from './turn-outcome.js';

/** Argument of the workflow of a turn. */
export interface Started<Input> {
  readonly input: Input;
  readonly conversationId?: string | undefined;
  /** Name of the schedule that starts it. */
  readonly schedule?: string;
}

/** As text, since the serialization of DBOS refuses some names of fields. */
export function encodeStarted<Input>(started: Started<Input>): string {
  return JSON.stringify(started);
}

/** @throws {@link JsonError} if the text is not a turn */
export function decodeStarted<Input>(text: unknown): Started<Input> {
  return parseStored(text, 'The input of the workflow') as Started<Input>;
}

/**
 * Runs a turn in the workflow of DBOS that calls it, from its beginning: recorded steps return what
 * they recorded.
 */
export async function runTurn<Input extends JsonValue>(
  options: DbosTurnsOptions<Input>,
  text: string,
): Promise<string> {
  const turnId = DBOS.workflowID as string;
  const execution = new TurnExecution(turnId);
  const { signal, stop } = execution;
  const release = watchForCancel(execution);
  try {
    const engine = await DbosEngine.open(turnId, signal, stop, options.keepsAnswers);
    const started = decodeStarted<Input>(text);
    const turn = { turnId, conversationId: started.conversationId, signal, engine };
    return encodeAnswer(await execution.run(engine, () => answer(options, started.input, turn)));
  } catch (error) {
    throw signal.aborted ? signal.reason : new TurnFailure(error);
  } finally {
    release();
  }
}

async function answer<Input extends JsonValue>(
  { run, onEvent }: DbosTurnsOptions<Input>,
  input: Input,
  turn: DbosTurn,
): Promise<ChatResponse> {
  const spec = withTurn(await run(input, turn), turn);
  if (!onEvent) return spec.call().chatResponse();
  const result = spec.stream();
  for await (const event of result.events()) onEvent(event, turn);
  return (await result.finalResponse()).chatResponse;
}

function withTurn(spec: PromptSpec, { turnId, conversationId, signal }: DbosTurn): PromptSpec {
  const ofTurn = spec.turnId(turnId).signal(signal);
  return conversationId === undefined ? ofTurn : ofTurn.conversation(conversationId);
}
