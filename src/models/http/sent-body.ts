import type { ModelRun } from '../../core/chat/chat-model.js';
import { notify } from '../../core/internal/notify.js';
import { withoutQuery } from '../../core/internal/redact.js';
import type { SendRequest } from './http-request.js';

/** Shows a request to the listener of a run, if there is one: its body is made only if it is read. */
export function showRequest(
  { toObject, url: address }: SendRequest<unknown>,
  { onRequest }: ModelRun,
): void {
  if (!onRequest || !toObject) return;
  const url = withoutQuery(address);
  notify(() =>
    onRequest({
      url,
      get body() {
        return toObject();
      },
    }),
  );
}
