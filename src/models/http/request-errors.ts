import type { AdvisorChainError, LimitExceededError } from '../../core/errors/errors.js';
import { ModelCallError } from '../../core/errors/errors.js';
import { redact, withoutQuery } from '../../core/internal/redact.js';
import { truncate } from '../../core/internal/text.js';
import { ConnectionError, HttpError, toModelError, type ReceivedDetails } from './http-error.js';
import { expiredError, type TimeSettings } from './time-limits.js';

/** Facts about a request that its errors name. */
interface RequestFacts {
  readonly model?: string | undefined;
  /** Address of the request; undefined if only a package knows it. */
  readonly url?: string | undefined;
  /** Credentials that must not appear in errors. */
  readonly secrets: () => readonly string[];
}

/** Headers with the id of a request, by which its provider finds it: the provider's own ones first. */
const ID_HEADERS = [
  'x-request-id', // OpenAI, Azure, Groq and most others
  'request-id', // Anthropic
  'x-amzn-requestid', // Amazon Bedrock
  'apim-request-id', // Azure
  'mistral-correlation-id',
  'x-debug-trace-id', // Cohere
  'cf-ray', // Cloudflare, in front of several others
];
const MAX_LENGTH = 1_000;

/** Converts the errors of one request, and adds its model, address and id to them. */
export class RequestErrors {
  /** Headers of the answer that has begun. */
  headers: Headers | undefined;

  constructor(
    private readonly facts: RequestFacts,
    private readonly signal: AbortSignal,
  ) {}

  /** @param received what had arrived; undefined if the response had not begun */
  convert(error: unknown, received?: ReceivedDetails): AdvisorChainError {
    const converted = toModelError(error, this.signal, this.facts.secrets(), received);
    // the reason of a cancellation belongs to its owner
    if (!this.signal.aborted) this.addOrigin(converted, error);
    return converted;
  }

  /** The error of a time limit, as {@link expiredError}. */
  expired(
    option: keyof TimeSettings,
    value: number | undefined,
    received?: ReceivedDetails,
  ): LimitExceededError | ModelCallError {
    const error = expiredError(option, value, received);
    this.addOrigin(error);
    return error;
  }

  /** @param source the error before its conversion, which may know more */
  private addOrigin(error: AdvisorChainError, source?: unknown): void {
    if (!(error instanceof ModelCallError)) return;
    if (error.model !== undefined || error.url !== undefined) return; // converted before
    const { model, url, secrets } = this.facts;
    const own = source instanceof HttpError || source instanceof ConnectionError ? source : {};
    const { url: address = url, headers = this.headers } = own as Partial<HttpError>;
    const shown = (text: string | undefined): string | undefined =>
      text === undefined ? undefined : truncate(redact(text, secrets()), MAX_LENGTH);
    const requestId = ID_HEADERS.map((name) => headers?.get(name)?.trim()).find(Boolean);
    const origin = { model, url: shown(withoutQuery(address)), requestId: shown(requestId) };
    Object.assign(error, origin);
  }
}
