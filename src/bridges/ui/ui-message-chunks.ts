import type { ChatEvent, ResponseEvent } from '../../core/chat/chat-event.js';
import { callsOf, textOf, type CheckedCall } from '../../core/chat/message.js';
import { safeJson } from '../../core/internal/safe-json.js';
import type { HttpError } from '../http/http-error.js';
import { publicProgress } from '../http/public-event.js';
import { inputOf, outputOf } from './call-values.js';
import { citationChunk, sourceChunks } from './source-chunks.js';
import { fileChunks } from './file-chunks.js';
import { finishChunk } from './finish-chunk.js';
import { MessageSteps } from './message-steps.js';
import { PageRequests } from './page-requests.js';
import type { UIMessageChunk } from './ui-message-chunk.js';

/** Options of {@link UIMessageChunks}. */
export interface ChunkOptions {
  readonly messageId: string | undefined;
  readonly isContinuation: boolean;
  readonly customEvents: readonly string[];
}

/** Makes chunks of the events of one run. */
export class UIMessageChunks {
  private isStarted = false;
  private readonly steps = new MessageSteps((chunk) => this.push(chunk));
  private open: { readonly type: 'text' | 'reasoning'; readonly id: string } | undefined;
  private parts = 0;
  /** Text of the current iteration was written. */
  private hasText = false;
  /** A call of the current step has its result. */
  private hasResult = false;
  /** Ids of calls whose arguments arrive, by their place in the answer. */
  private readonly streamed = new Map<number, string>();
  private readonly invalid = new Set<string>();
  private readonly requests = new PageRequests((...chunks) => {
    this.close();
    this.chunks.push(...chunks);
  });
  private readonly sources = new Set<string>();
  private seal: string | undefined;
  private chunks: UIMessageChunk[] = [];

  constructor(private readonly options: ChunkOptions) {}

  /** The chunks of an event, in order. */
  of(event: ChatEvent): readonly UIMessageChunk[] {
    this.start();
    const isSeen =
      this.options.isContinuation && event.type !== 'response' && event.isReplayed === true;
    if (isSeen) this.see(event);
    // results of replayed calls are new: the page has shown the calls alone
    if (!isSeen || event.type === 'tool-result') this.add(event);
    return this.take();
  }

  fail({ code, message }: HttpError): readonly UIMessageChunk[] {
    this.start();
    this.close();
    this.requests.writeDenials();
    this.push(code === 'cancelled' ? { type: 'abort' } : { type: 'error', errorText: message });
    return this.take();
  }

  /** Notes what the page has shown before the pause. */
  private see(event: ChatEvent): void {
    if (event.type === 'iteration-start') this.steps.see(event.index);
    if (event.type === 'retract') this.steps.void(event.iteration);
    if (event.type === 'iteration')
      for (const { id } of callsOf(event.response.message)) this.requests.see(id);
    if (event.type === 'custom' && event.name === 'tool-approval') this.requests.add(event.data);
  }

  private start(): void {
    if (this.isStarted) return;
    this.isStarted = true;
    const { messageId } = this.options;
    this.push({ type: 'start', ...(messageId !== undefined && { messageId }) });
  }

  private add(event: ChatEvent): void {
    switch (event.type) {
      case 'iteration-start':
        return this.startStep(event.index);
      case 'text-delta':
        this.hasText = true;
        return this.write('text', event.text);
      case 'reasoning-delta':
        return this.write('reasoning', event.text);
      case 'tool-call-delta':
        return this.addPiece(event);
      case 'citation':
        return this.source(citationChunk(event.citation));
      case 'iteration':
        return this.close();
      case 'tool-call':
        return this.addCall(event.call);
      case 'tool-progress':
        return this.addProgress(event);
      case 'tool-result':
        return this.addResult(event);
      case 'retract':
        return this.retract(event.iteration);
      case 'response':
        return this.finish(event);
      case 'tool-start':
        return this.requests.start(event.call.id);
      case 'step':
        return undefined;
      default:
        return this.addCustom(event);
    }
  }

  private startStep(iteration: number): void {
    this.finishStep();
    this.hasText = false;
    this.streamed.clear();
    this.steps.begin(iteration);
  }

  private finishStep(): void {
    this.close();
    this.requests.writeDenials();
    this.steps.finish();
    this.hasResult = false;
  }

  private write(type: 'text' | 'reasoning', delta: string): void {
    if (this.open?.type !== type) this.close();
    // a result that is the answer gets a step of its own: a page sends a last step that has results alone again
    if (this.hasResult) this.finishStep();
    this.steps.ensure();
    if (!this.open) {
      this.open = { type, id: `${type}-${++this.parts}` };
      this.push({ type: `${type}-start`, id: this.open.id });
    }
    this.push({ type: `${type}-delta`, id: this.open.id, delta });
  }

  private close(): void {
    if (this.open) this.push({ type: `${this.open.type}-end`, id: this.open.id });
    this.open = undefined;
  }

  private addPiece({ index, id, name, arguments: inputTextDelta }: Piece): void {
    this.close();
    this.steps.ensure();
    if (id !== undefined && name !== undefined && !this.streamed.has(index)) {
      this.streamed.set(index, id);
      this.push({ type: 'tool-input-start', toolCallId: id, toolName: name });
    }
    const toolCallId = this.streamed.get(index);
    if (toolCallId !== undefined && inputTextDelta !== '')
      this.push({ type: 'tool-input-delta', toolCallId, inputTextDelta });
  }

  private addCall(call: CheckedCall): void {
    this.close();
    const { id: toolCallId, name: toolName } = call;
    if (!this.requests.show(toolCallId)) return;
    this.steps.ensure();
    // the reason follows with the result
    if (call.input === undefined) this.invalid.add(toolCallId);
    else this.push({ type: 'tool-input-available', toolCallId, toolName, input: inputOf(call) });
  }

  private addProgress({ call, data }: ProgressEvent): void {
    const shown = publicProgress(data, this.options.customEvents);
    if (!shown) return;
    const preliminary = { output: shown.data, preliminary: true };
    this.push({ type: 'tool-output-available', toolCallId: call.id, ...preliminary });
  }

  private addResult({ call, result }: ResultEvent): void {
    const { id: toolCallId, name: toolName } = call;
    const text = textOf(result.content);
    this.hasResult = true;
    if (this.invalid.has(toolCallId) && result.isError) {
      const input = inputOf(call);
      return this.push({ type: 'tool-input-error', toolCallId, toolName, input, errorText: text });
    }
    if (this.requests.isOfPage(toolCallId, result.isError === true)) return;
    if (!this.requests.has(toolCallId) && !this.options.isContinuation)
      this.addCall({ ...call, input: {} });
    if (this.requests.deny(toolCallId, text)) return;
    if (result.isError)
      return this.push({ type: 'tool-output-error', toolCallId, errorText: text });
    this.push({ type: 'tool-output-available', toolCallId, output: outputOf(result) });
    this.chunks.push(...fileChunks(result.content));
  }

  /** The protocol cannot take a part back: a marker voids the last steps, and {@link visibleParts} leaves them out. */
  private retract(iteration: number): void {
    this.finishStep();
    this.hasText = false;
    const steps = this.steps.void(iteration);
    if (steps > 0) this.push({ type: 'data-retract', data: { steps } });
  }

  private addCustom({ name, data }: { readonly name: string; readonly data: unknown }): void {
    if (name === 'tool-approval') return this.requests.add(data);
    if (name === 'history-seal') this.seal = data as string;
    if (name === 'sources') for (const chunk of sourceChunks(data)) this.source(chunk);
    if (this.options.customEvents.includes(name))
      this.push({ type: `data-${name}`, data: safeJson(data) });
  }

  private source(chunk: UIMessageChunk | undefined): void {
    const id = chunk && 'sourceId' in chunk ? chunk.sourceId : undefined;
    if (!chunk || id === undefined || this.sources.has(id)) return;
    this.sources.add(id);
    this.push(chunk);
  }

  private finish(event: ResponseEvent): void {
    const { text, paused } = event.response;
    // an answer of a cache or a guard may have no deltas
    if (text && !this.hasText) this.write('text', text);
    this.requests.end(paused?.requests ?? []);
    this.finishStep();
    this.push(finishChunk(event, this.seal));
  }

  private push(chunk: UIMessageChunk): void {
    this.chunks.push(chunk);
  }

  private take(): readonly UIMessageChunk[] {
    const { chunks } = this;
    this.chunks = [];
    return chunks;
  }
}

type Piece = Extract<ChatEvent, { type: 'tool-call-delta' }>;
type ProgressEvent = Extract<ChatEvent, { type: 'tool-progress' }>;
type ResultEvent = Extract<ChatEvent, { type: 'tool-result' }>;
