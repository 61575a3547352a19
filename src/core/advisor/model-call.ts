import { MODEL_RETRIES, type ChatModel, type ModelRun } from '../chat/chat-model.js';
import type { Usage } from '../chat/chat-response.js';
import type { Prompt } from '../chat/prompt.js';
import type { IterationStart, RunRecord } from '../chat/run-record.js';
import type { ModelCallSite } from '../chat/run-recorder.js';
import { Cancellation, type Cancellable } from '../internal/cancellation.js';
import type { Advisor } from './advisor.js';
import type { ChatClientRequest } from './chat-client-request.js';
import { originsOf } from './invariants.js';

/** A model call of a chain. */
export interface ModelCall {
  /** The model of the chain. */
  readonly main: ChatModel;
  readonly model: ChatModel;
  readonly prompt: Prompt;
  readonly request: ChatClientRequest;
  readonly begin: IterationStart;
  readonly advisors: readonly Advisor[];
  readonly record: ReturnType<RunRecord['beginModelCall']>;
  readonly onRetry?: ModelRun['onRetry'];
  readonly onRequest?: ModelRun['onRequest'];
}

/**
 * The run of one model call, which its subscriber can cancel alone. Its signal has no owner: a turn
 * within a model is not in this ledger, since the answer of the model reports its usage.
 */
export class ModelCancellation extends Cancellation implements ModelRun {
  readonly maxRetries: number | undefined;
  readonly onRetry: ModelRun['onRetry'];
  readonly onRequest: ModelRun['onRequest'];

  constructor(
    private readonly modelCall: ModelCall,
    { ready }: Cancellable,
  ) {
    super(ready);
    ({ onRetry: this.onRetry, onRequest: this.onRequest } = modelCall);
    this.maxRetries = modelCall.request.context.get(MODEL_RETRIES);
  }

  readonly inLedger = true;

  readonly track = (work: Promise<unknown>): void => this.modelCall.request.run.track(work);

  readonly onSpent = (usage: Usage): void => {
    this.modelCall.request.run.addSpent(this.modelCall.record, usage);
  };
}

/** The call for a recorder. */
export function siteOf({ model, request, record }: ModelCall): ModelCallSite {
  return {
    iteration: request.iteration,
    record,
    name: record.model ?? model.provider?.name,
    isTurnCancelled: () => request.cancellation.cancelled,
    prompt: request.prompt,
    origins: () =>
      originsOf(request).map(({ advisor, received }) => ({
        advisor: advisor.name,
        received: received.prompt,
      })),
  };
}
