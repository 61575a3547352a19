/**
 * A chunk of the UI message stream of the AI SDK (`x-vercel-ai-ui-message-stream: v1`), as far as a run makes it.
 * Protocol: https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol
 */
export type UIMessageChunk =
  | { readonly type: 'start'; readonly messageId?: string }
  | { readonly type: 'start-step' | 'finish-step' }
  | { readonly type: `${'text' | 'reasoning'}-${'start' | 'end'}`; readonly id: string }
  | {
      readonly type: 'text-delta' | 'reasoning-delta';
      readonly id: string;
      readonly delta: string;
    }
  | (OfCall & { readonly type: 'tool-input-start'; readonly toolName: string })
  | (OfCall & { readonly type: 'tool-input-delta'; readonly inputTextDelta: string })
  | (OfCall & {
      readonly type: 'tool-input-available';
      readonly toolName: string;
      readonly input: unknown;
    })
  | (OfCall & {
      readonly type: 'tool-input-error';
      readonly toolName: string;
      readonly input: unknown;
      readonly errorText: string;
    })
  | (OfCall & { readonly type: 'tool-approval-request'; readonly approvalId: string })
  | (OfCall & {
      readonly type: 'tool-output-available';
      readonly output: unknown;
      readonly preliminary?: boolean;
    })
  | (OfCall & { readonly type: 'tool-output-error'; readonly errorText: string })
  | (OfCall & { readonly type: 'tool-output-denied' })
  | {
      readonly type: 'source-url';
      readonly sourceId: string;
      readonly url: string;
      readonly title?: string;
    }
  | {
      readonly type: 'source-document';
      readonly sourceId: string;
      readonly mediaType: string;
      readonly title: string;
    }
  | { readonly type: 'file'; readonly url: string; readonly mediaType: string }
  | { readonly type: `data-${string}`; readonly id?: string; readonly data: unknown }
  | {
      readonly type: 'finish';
      readonly finishReason?: UIFinishReason;
      readonly messageMetadata?: UIMessageMetadata;
    }
  | { readonly type: 'error'; readonly errorText: string }
  | { readonly type: 'abort' };

interface OfCall {
  readonly toolCallId: string;
}

/** Reasons for which an answer ends, in the words of the AI SDK. */
export type UIFinishReason =
  'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other';

/** Metadata of the message of a run. Fields without a value are left out. */
export interface UIMessageMetadata {
  readonly model?: string;
  /** Tokens of the whole turn. */
  readonly usage?: {
    readonly inputTokens: number;
    readonly outputTokens: number;
    readonly totalTokens: number;
  };
  /** Price of the turn, in the unit of the price table of the client. */
  readonly cost?: number;
  /** Id for `client.resume`, if the turn waits for people. */
  readonly pausedTurn?: string;
  /** The turn for the history that the page keeps, encrypted; see `SealedHistory`. */
  readonly seal?: string;
}
