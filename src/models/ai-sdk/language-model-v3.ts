import type { AiSdkCallOptions } from './language-model.js';

/** A language model of specification v3, as applications of the AI SDK take it. */
export interface LanguageModelV3 {
  readonly specificationVersion: 'v3';
  readonly provider: string;
  readonly modelId: string;
  readonly supportedUrls: Record<string, RegExp[]>;
  doGenerate(options: AiSdkCallOptions): Promise<GenerateResultV3>;
  doStream(options: AiSdkCallOptions): Promise<StreamResultV3>;
}

/** A complete answer. */
export interface GenerateResultV3 extends FinishV3 {
  readonly content: ContentV3[];
  readonly warnings: WarningV3[];
  readonly response: ResponseV3;
}

/** A streamed answer. */
export interface StreamResultV3 {
  readonly stream: ReadableStream<StreamPartV3>;
}

/** A part of a complete answer. */
export type ContentV3 =
  | { readonly type: 'text' | 'reasoning'; readonly text: string }
  | {
      readonly type: 'tool-call';
      readonly toolCallId: string;
      readonly toolName: string;
      readonly input: string;
    }
  | {
      readonly type: 'source';
      readonly sourceType: 'url';
      readonly id: string;
      readonly url: string;
      readonly title?: string;
    };

/** A part of a streamed answer. */
export type StreamPartV3 =
  | { readonly type: 'stream-start'; readonly warnings: WarningV3[] }
  | { readonly type: `${BlockV3}-start` | `${BlockV3}-end`; readonly id: string }
  | { readonly type: `${BlockV3}-delta`; readonly id: string; readonly delta: string }
  | Extract<ContentV3, { type: 'tool-call' | 'source' }>
  | ({ readonly type: 'response-metadata' } & ResponseV3)
  | ({ readonly type: 'finish' } & FinishV3)
  | { readonly type: 'error'; readonly error: unknown };

type BlockV3 = 'text' | 'reasoning';

/** The end of an answer. */
export interface FinishV3 {
  readonly finishReason: {
    readonly unified: 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other';
    readonly raw: string | undefined;
  };
  readonly usage: {
    readonly inputTokens: Readonly<
      Record<'total' | 'noCache' | 'cacheRead' | 'cacheWrite', number | undefined>
    >;
    readonly outputTokens: Readonly<Record<'total' | 'text' | 'reasoning', number | undefined>>;
  };
}

interface ResponseV3 {
  readonly id?: string;
  readonly modelId?: string;
}

/** A part of a request that has no effect. */
export interface WarningV3 {
  readonly type: 'unsupported';
  readonly feature: string;
  readonly details: string;
}
