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
