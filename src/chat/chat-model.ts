import type { Observable } from '../rxjs.js';
import type { Cancellable, Ready } from './cancellation.js';
import type { ChatEvent } from './chat-event.js';
import type { ChatOptions } from './chat-options.js';
import type { ChatResponse } from './chat-response.js';
import type { Prompt } from './prompt.js';

/** What a run gives to a model besides the prompt: how to be told that it is cancelled. */
export interface ModelRun {
  readonly signal?: AbortSignal | undefined;
  /** The same as a listener of `signal`, but cheaper: a signal that nobody asks for is never made. Absent where a run is started by hand. */
  readonly onCancel?: Cancellable['onCancel'];
  /** Asked by a stream before it reads on; see {@link Ready}. */
  readonly ready?: Ready | undefined;
  /** Told before a request that failed for a passing reason is sent again. */
  readonly onRetry?: ((error: unknown) => void) | undefined;
}

/** Who answers for a model, for those who watch. */
export interface ModelProvider {
  /** One of the names that OpenTelemetry has for `gen_ai.provider.name`, such as `openai`, or one of your own. */
  readonly name: string;
  /** Host of the server. */
  readonly address?: string | undefined;
  readonly port?: number | undefined;
}

/** A chat model. Objects of this type keep no state of a run and may be shared by concurrent requests. */
export interface ChatModel {
  /** Used where a prompt says nothing else. */
  readonly defaultOptions: ChatOptions;
  /** Absent where nobody is known to answer for it. */
  readonly provider?: ModelProvider | undefined;
  /** The whole answer at once. */
  call(prompt: Prompt, run?: ModelRun): Promise<ChatResponse>;
  /** Deltas, then exactly one `response` with the complete answer. Cold; unsubscribing closes the request. */
  stream(prompt: Prompt, run?: ModelRun): Observable<ChatEvent>;
}
