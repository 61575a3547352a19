import type { ChatModel, ModelRun } from '../chat/chat-model.js';
import { withModelDefaults } from '../chat/chat-options.js';
import type { ChatResponse } from '../chat/chat-response.js';
import type { Prompt } from '../chat/prompt.js';
import { recordModelCall } from '../chat/record-model-call.js';
import { RunRecord } from '../chat/run-record.js';
import { RunSlot } from '../chat/context.js';
import { hasCode } from '../errors/advisor-chain-error.js';
import { cancellationOf, untilCancelled } from '../internal/cancellation.js';
import type { Observation } from './observation.js';

/** The observation of a turn, for model calls beside its chain. */
export const TURN_OBSERVATION = new RunSlot<Observation>();

/**
 * Calls a model beside the chain, for example for a summary. The call is in the ledger of its run,
 * and has a span within the span of the turn.
 * @param signal signal of the run that the call belongs to
 * @throws the error of the model, {@link CancelledError} when the signal aborts
 */
export async function askModel(
  model: ChatModel,
  prompt: Prompt,
  signal: AbortSignal | undefined,
): Promise<ChatResponse> {
  const run = RunRecord.of(signal);
  const { provider, defaultOptions } = model;
  const options = defaultOptions
    ? withModelDefaults(defaultOptions, prompt.options)
    : prompt.options;
  const part = { type: 'model-call', mode: 'call', iteration: undefined } as const;
  const observation =
    run && TURN_OBSERVATION.get(run)?.begin({ ...part, prompt, options, provider });
  const observed: ModelRun = observation
    ? {
        onRetry: (error, waited) => observation.note({ type: 'retry', error, waited }),
        onRequest: (request) => observation.note({ type: 'request', request }),
      }
    : {};
  const ask = (): Promise<ChatResponse> =>
    recordModelCall(run, 'chat', options.model, () => {
      const own = signal ? { signal, ...observed } : observed;
      const answer = model.call(prompt, { ...own, inLedger: run !== undefined });
      return signal ? untilCancelled(answer, cancellationOf(signal)) : answer;
    });
  if (!observation) return ask();
  try {
    const response = await observation.run(ask);
    observation.end({ type: 'response', response });
    return response;
  } catch (error) {
    observation.end(hasCode(error, 'cancelled') ? { type: 'cancelled' } : { type: 'error', error });
    throw error;
  }
}
