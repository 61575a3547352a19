import type { ModelRun } from '../../core/chat/chat-model.js';
import { ModelCallError } from '../../core/errors/errors.js';
import { notify } from '../../core/internal/notify.js';
import { isPlainObject, type JsonObject } from '../../core/internal/options.js';
import type { SendRequest } from '../http/http-request.js';
import type { BegunAnswer, Source } from '../http/response-body.js';
import type {
  AiSdkCallOptions,
  AiSdkGenerateResult,
  AiSdkLanguageModel,
  AiSdkStreamResult,
} from './language-model.js';
import { isBrokenBody, toHeaders, toRequestError } from './provider-error.js';

/** Parts of an answer that arrived together. */
export interface Parts {
  readonly parts: readonly JsonObject[];
  /** Size of the parts: one byte per character, and per other value. */
  readonly byteLength: number;
}

/** Makes the request of a model that answers with parts. */
export function sendTo(
  model: AiSdkLanguageModel,
  mode: 'call' | 'stream',
  toOptions: () => Promise<AiSdkCallOptions>,
  onRequest: ModelRun['onRequest'],
): SendRequest<BegunAnswer<Parts>> {
  return async (abortSignal) => {
    const sent = await toOptions();
    if (onRequest) notify(() => onRequest({ body: { ...sent, headers: undefined } }));
    const options = { ...sent, abortSignal };
    try {
      return mode === 'call'
        ? wholeAnswer(await model.doGenerate(options))
        : streamedAnswer(await model.doStream(options));
    } catch (error) {
      // it had begun: it is not requested again
      if (isBrokenBody(error)) return begun({ read: ended, cancel: nothing }, undefined);
      throw await toRequestError(error);
    }
  };
}

const nothing = (): Promise<void> => Promise.resolve();
const ended: Source<Parts>['read'] = () => Promise.resolve({ done: true, value: undefined });

function begun(source: Source<Parts>, response: unknown): BegunAnswer<Parts> {
  const headers = toHeaders(isPlainObject(response) ? response['headers'] : undefined);
  return { headers, body: { getReader: () => source, cancel: () => source.cancel() } };
}

function wholeAnswer(result: AiSdkGenerateResult): BegunAnswer<Parts> {
  const content: readonly unknown[] | undefined = result?.content;
  if (!Array.isArray(content)) throw notOfTheSdk();
  const { finishReason, usage, providerMetadata, warnings, response } = result;
  const all: readonly unknown[] = [
    { type: 'stream-start', warnings },
    { ...response, type: 'response-metadata' },
    ...(content as readonly unknown[]),
    { type: 'finish', isWhole: true, finishReason, usage, providerMetadata },
  ];
  const parts = all.filter(isPlainObject);
  const size = { parts, byteLength: sizeOf(content) };
  let isRead = false;
  const read: Source<Parts>['read'] = () => {
    if (isRead) return ended();
    isRead = true;
    return Promise.resolve({ done: false, value: size });
  };
  return begun({ read, cancel: nothing }, response);
}

/** Parts that packages make themselves, before the server sends its first piece. */
const MADE_UP: ReadonlySet<unknown> = new Set(['stream-start', 'response-metadata']);
const MAX_MADE_UP = 10;

function streamedAnswer(result: AiSdkStreamResult): BegunAnswer<Parts> {
  if (typeof result?.stream?.getReader !== 'function') throw notOfTheSdk();
  return begun(new StreamSource(result.stream.getReader()), result.response);
}

/** Reads a stream of parts; an error part is its error. */
class StreamSource implements Source<Parts> {
  constructor(private readonly reader: ReadableStreamDefaultReader<object>) {}

  async read(): ReturnType<Source<Parts>['read']> {
    const parts: JsonObject[] = [];
    for (;;) {
      const part = await this.next();
      if (part === undefined) return parts.length > 0 ? pieceOf(parts) : ended();
      if (!isPlainObject(part)) continue;
      parts.push(part);
      if (!MADE_UP.has(part['type']) || parts.length > MAX_MADE_UP) return pieceOf(parts);
    }
  }

  cancel(): Promise<void> {
    return this.reader.cancel();
  }

  /** The next part; undefined at the end, also of an answer that broke off: its reader reports that. */
  private async next(): Promise<object | undefined> {
    let failure: unknown;
    try {
      const { done, value } = await this.reader.read();
      if (done || !isPlainObject(value) || value['type'] !== 'error') return value;
      failure = value['error'];
    } catch (error) {
      failure = error;
    }
    if (isBrokenBody(failure)) return undefined;
    throw await toRequestError(failure);
  }
}

const notOfTheSdk = (): ModelCallError =>
  new ModelCallError('The model gave no answer in the form of the AI SDK.');

function pieceOf(parts: readonly JsonObject[]): { done: false; value: Parts } {
  return { done: false, value: { parts, byteLength: sizeOf(parts) } };
}

/** Deeper values do not count. */
const MAX_DEPTH = 50;

function sizeOf(value: unknown, depth = 0): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return 1;
  if (value instanceof Uint8Array) return value.byteLength;
  let size = 1;
  for (const inner of Object.values(value)) size += sizeOf(inner, depth + 1);
  return size;
}
