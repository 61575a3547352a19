import type { ModelRun, SentBody } from '../../core/chat/chat-model.js';
import { notify } from '../../core/internal/notify.js';
import { withoutQuery } from '../../core/internal/redact.js';
import type { SendRequest } from './http-request.js';

/** Shows a request to the listener of a run, if there is one. */
export function showRequest(
  { toObject, url }: SendRequest<unknown>,
  { onRequest }: ModelRun,
): void {
  if (onRequest && toObject) notify(() => onRequest(new LazySentBody(url, toObject)));
}

/** Makes its parts when they are read; a literal with getters would be a hidden class of its own. */
class LazySentBody implements SentBody {
  readonly #address: string | undefined;
  readonly #toObject: () => unknown;

  constructor(address: string | undefined, toObject: () => unknown) {
    this.#address = address;
    this.#toObject = toObject;
  }

  get url(): string | undefined {
    return withoutQuery(this.#address);
  }

  get body(): unknown {
    return this.#toObject();
  }

  toJSON(): SentBody {
    const { url, body } = this;
    return { url, body };
  }
}
