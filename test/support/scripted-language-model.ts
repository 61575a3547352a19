import type { AiSdkCallOptions, AiSdkLanguageModel } from '../../src/models/ai-sdk/index.js';

/** A part of an answer in the form of the AI SDK. */
export type Part = { readonly type: string } & Readonly<Record<string, unknown>>;

export const USAGE = {
  inputTokens: { total: 5, noCache: 5, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 3, text: 3, reasoning: undefined },
};
export const STOP: Part = {
  type: 'finish',
  finishReason: { unified: 'stop', raw: 'end' },
  usage: USAGE,
};

/** The parts of a streamed text. */
export function textParts(text: string, id = 't'): readonly Part[] {
  return [
    { type: 'text-start', id },
    { type: 'text-delta', id, delta: text },
    { type: 'text-end', id },
  ];
}

/** A language model of the AI SDK whose answers a test writes. */
export class ScriptedLanguageModel implements AiSdkLanguageModel {
  readonly provider: string = 'made-up.chat';
  readonly modelId = 'made-up-1';
  supportedUrls: Record<string, RegExp[]> = {};
  readonly requests: AiSdkCallOptions[] = [];

  /**
   * @param parts parts of each answer, streamed or whole; a function makes them for a request
   */
  constructor(
    private readonly answers: readonly (readonly Part[] | (() => unknown))[],
    readonly specificationVersion: string = 'v3',
  ) {}

  async doGenerate(options: AiSdkCallOptions) {
    const parts = (await this.next(options)) as readonly Part[];
    const finish = parts.find(({ type }) => type === 'finish');
    const start = parts.find(({ type }) => type === 'stream-start');
    const content = parts.filter((part) => part !== finish && part !== start);
    return {
      content,
      finishReason: finish?.['finishReason'],
      usage: finish?.['usage'],
      providerMetadata: finish?.['providerMetadata'],
      warnings: (start?.['warnings'] ?? []) as readonly unknown[],
    };
  }

  async doStream(options: AiSdkCallOptions) {
    const parts = await this.next(options);
    if (parts instanceof ReadableStream) return { stream: parts as ReadableStream<object> };
    const rest = [...(parts as readonly Part[])];
    const pull = (controller: ReadableStreamDefaultController<object>): void => {
      const part = rest.shift();
      if (part) controller.enqueue(part);
      else controller.close();
    };
    return { stream: new ReadableStream<object>({ pull }, { highWaterMark: 0 }) };
  }

  private async next(options: AiSdkCallOptions): Promise<unknown> {
    const answer = this.answers[this.requests.length];
    this.requests.push(options);
    return typeof answer === 'function' ? answer() : answer;
  }
}
