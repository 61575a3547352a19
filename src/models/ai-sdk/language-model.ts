/** Addresses that a model fetches itself, as patterns by media type. */
export type SupportedUrls = Readonly<Record<string, readonly RegExp[]>>;

/**
 * A language model of the AI SDK, specification v3 or v4, by its form: no package of theirs is
 * imported, so that any version and any provider fits.
 */
export interface AiSdkLanguageModel {
  readonly specificationVersion: string;
  /** Provider and API, such as `anthropic.messages`. */
  readonly provider: string;
  readonly modelId: string;
  readonly supportedUrls?: SupportedUrls | PromiseLike<SupportedUrls>;
  doGenerate(options: AiSdkCallOptions): PromiseLike<AiSdkGenerateResult>;
  doStream(options: AiSdkCallOptions): PromiseLike<AiSdkStreamResult>;
}

/** Options of one request in the form of the AI SDK. */
export interface AiSdkCallOptions {
  readonly prompt: readonly object[];
  readonly tools?: readonly object[] | undefined;
  readonly toolChoice?: object | undefined;
  readonly abortSignal?: AbortSignal | undefined;
  readonly providerOptions?: Readonly<Record<string, unknown>> | undefined;
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
}

/** A complete answer in the form of the AI SDK. */
export interface AiSdkGenerateResult {
  readonly content: readonly object[];
  readonly finishReason: unknown;
  readonly usage: unknown;
  readonly providerMetadata?: unknown;
  readonly warnings?: readonly unknown[];
  readonly response?: object | undefined;
}

/** A streamed answer in the form of the AI SDK. */
export interface AiSdkStreamResult {
  readonly stream: ReadableStream<object>;
  readonly response?: object | undefined;
}

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
