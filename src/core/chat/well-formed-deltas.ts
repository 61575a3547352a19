import { TextPieces } from '../internal/well-formed.js';
import type { ChatEvent, ToolCallDelta } from './chat-event.js';

type TextDelta =
  Extract<ChatEvent, { readonly type: 'text-delta' | 'reasoning-delta' }> | ToolCallDelta;

/** Makes the deltas of one answer well-formed, so that they add up to the texts of its response. */
export class WellFormedDeltas {
  /** Texts of which a piece was not well-formed, by the kind of delta; most answers have none. */
  private open: Map<string, { readonly pieces: TextPieces; delta: TextDelta }> | undefined;

  /** The event; undefined for half a pair alone, which the next delta has. */
  next(event: ChatEvent): ChatEvent | undefined {
    switch (event.type) {
      case 'text-delta':
      case 'reasoning-delta':
        return !this.open && isWellFormed(event.text) ? event : this.repair(event, event.text);
      case 'tool-call-delta':
        return !this.open && isWellFormed(event.arguments)
          ? event
          : this.repair(event, event.arguments);
      default:
        return event;
    }
  }

  /** The halves that no other piece has completed. */
  end(): readonly ChatEvent[] {
    const open = [...(this.open?.values() ?? [])];
    this.open = undefined;
    return open.flatMap(({ pieces, delta }) => {
      const rest = pieces.end();
      return rest === '' ? [] : [withText(delta, rest)];
    });
  }

  private repair(delta: TextDelta, text: string): ChatEvent | undefined {
    const key = delta.type === 'tool-call-delta' ? String(delta.index) : delta.type;
    this.open ??= new Map();
    const known = this.open.get(key);
    const { pieces } = known ?? { pieces: new TextPieces() };
    this.open.set(key, { pieces, delta });
    const whole = pieces.next(text);
    if (whole === text) return delta;
    return whole === '' && delta.type !== 'tool-call-delta' ? undefined : withText(delta, whole);
  }
}

/** A model in JavaScript may send something else than a text. */
function isWellFormed(text: string): boolean {
  return typeof text !== 'string' || text.isWellFormed();
}

function withText(delta: TextDelta, text: string): ChatEvent {
  return delta.type === 'tool-call-delta' ? { ...delta, arguments: text } : { ...delta, text };
}
