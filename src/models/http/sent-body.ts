import type { ModelRun, SentBody } from '../../core/chat/chat-model.js';
import { notify } from '../../core/internal/notify.js';
import { withoutQuery } from '../../core/internal/redact.js';
import type { SendRequest } from './http-request.js';

/** Shows a request to the listener of a run, if there is one. */
export function showRequest(
  { toObject, url }: SendRequest<unknown>,
  { onRequest }: ModelRun,
): void {
  if (onRequest && toObject) notify(() => onRequest(sentBody(url, toObject)));
}

/** Makes the body when it is read. Apart from the listener, whose run it would keep. */
function sentBody(address: string | undefined, toObject: () => unknown): SentBody {
  return {
    url: withoutQuery(address),
    get body() {
      return toObject();
    },
  };
}
