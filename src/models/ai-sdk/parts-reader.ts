import type { ChatResponse } from '../../core/chat/chat-response.js';
import { IncompleteResponseError } from '../../core/errors/errors.js';
import { rateLimitOf } from '../http/rate-limit.js';
import type { ReceivedDetails } from '../http/http-error.js';
import { redact } from '../../core/internal/redact.js';
import type { AnswerReader } from '../http/response-body.js';
import type { PartFold } from './part-fold.js';
import type { Parts } from './parts-source.js';

/** Finish reasons of answers that must not be used. */
const BROKEN: ReadonlySet<unknown> = new Set([undefined, 'error', 'interrupted']);

/** Reads the parts of an answer up to its finish. */
export class PartsReader implements AnswerReader<Parts> {
  done = false;

  constructor(
    private readonly parts: PartFold,
    private readonly model: string,
    private readonly secrets: () => readonly string[],
  ) {}

  get fold(): { readonly finished: boolean } {
    return { finished: !BROKEN.has(this.parts.finish?.unified) };
  }

  get received(): ReceivedDetails {
    const { text, usage } = this.parts;
    return { partialText: redact(text, this.secrets()) || undefined, usage };
  }

  push({ parts }: Parts): void {
    for (const part of parts) {
      if (this.done) return;
      this.parts.add(part);
      if (part['type'] === 'finish') this.done = true;
    }
  }

  end(headers: Headers): ChatResponse {
    if (!this.fold.finished) throw this.incomplete();
    return this.parts.response(rateLimitOf(headers), this.model);
  }

  private incomplete(): IncompleteResponseError {
    const { unified, raw } = this.parts.finish ?? {};
    const reason = [unified ?? 'none', raw].filter(Boolean).join(', ');
    return new IncompleteResponseError(
      `The response is not complete (finish reason: ${redact(reason, this.secrets())}).`,
      { ...this.received, retryable: true },
    );
  }
}
