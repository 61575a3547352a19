import type { ChatEvent } from '../../core/chat/chat-event.js';
import type { EventReader } from './event-source.js';
import type { HttpError } from './http-error.js';
import type { StreamEncoder } from './stream-format.js';

/**
 * Encodes the events of a reader: leaves out the frames that the client has, and writes the ids of
 * server-sent events. Of an event with several frames the last has its id, others `ID-NUMBER`, so that
 * a client which has a part of them gets the rest.
 */
export class IdentifiedFrames implements StreamEncoder {
  readonly heartbeat: string;

  /** @param hasIds true for server-sent events */
  constructor(
    private readonly encoder: StreamEncoder,
    private readonly reader: EventReader,
    private readonly hasIds: boolean,
  ) {
    this.heartbeat = encoder.heartbeat;
  }

  encode(event: ChatEvent): string {
    return this.unseen(this.encoder.encode(event));
  }

  fail(error: HttpError): string {
    return this.unseen(this.encoder.fail(error));
  }

  end(): string {
    return this.unseen(this.encoder.end());
  }

  private unseen(frames: string): string {
    const { id, seen } = this.reader;
    if (frames === '' || seen === Infinity) return '';
    if (!this.hasIds || id === undefined) return frames;
    const all = frames.split(/(?<=\n\n)/);
    const idAt = (at: number): string => (at === all.length - 1 ? id : `${id}-${at + 1}`);
    return all.map((frame, at) => (at < seen ? '' : `id: ${idAt(at)}\n${frame}`)).join('');
  }
}
