import type { CitationEvent, ToolCallDelta } from './chat-event.js';
import { toCitation, type Citation, type ForeignPlace } from './citation.js';
import type { JsonObject } from '../internal/options.js';
import type { AssistantMessage, Metadata } from './message.js';
import { OpenCalls, type ToolCallPiece } from './open-calls.js';

/**
 * Assembles the pieces of one streamed answer. Texts grow by `+=`; no piece is kept. For the rules
 * by which pieces of tool calls belong together, see {@link OpenCalls}.
 */
export class StreamFold {
  text = '';
  reasoning = '';
  refusal = '';
  readonly citations: Citation[] = [];
  /** Most answers have none. */
  private calls: OpenCalls | undefined;

  /** Adds a piece and returns it as an event with the position of its call. */
  addToolCall(piece: ToolCallPiece): ToolCallDelta {
    return (this.calls ??= new OpenCalls()).add(piece);
  }

  /** Adds a citation and returns it as an event; see {@link toCitation}. */
  addCitation(
    raw: JsonObject | undefined,
    place?: ForeignPlace,
    fields?: JsonObject,
  ): CitationEvent {
    const citation = toCitation(raw, place, fields);
    this.citations.push(citation);
    return { type: 'citation', citation };
  }

  /** The citations as a field of the generation. */
  get cited(): { readonly citations?: readonly Citation[] } {
    return this.citations.length > 0 ? { citations: this.citations } : {};
  }

  /** The message so far; its content is null if there are calls or a refusal instead. */
  message(metadata?: Metadata): AssistantMessage {
    return {
      role: 'assistant',
      content:
        this.text === '' && (this.calls !== undefined || this.refusal !== '') ? null : this.text,
      ...(this.calls && { toolCalls: this.calls.toToolCalls() }),
      ...(this.reasoning !== '' && { reasoning: this.reasoning }),
      ...(this.refusal !== '' && { refusal: this.refusal }),
      ...(metadata && { metadata }),
    };
  }
}
