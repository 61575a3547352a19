import { isPlainObject, type JsonObject } from '../../core/internal/options.js';

/** Milliseconds that the server asks to wait (RFC 9110, section 10.2.3, and `retry-after-ms`). */
export function retryAfterOf(headers: Headers | undefined): number | undefined {
  const milliseconds = Number.parseFloat(headers?.get('retry-after-ms') ?? '');
  if (milliseconds >= 0) return milliseconds;
  const text = headers?.get('retry-after')?.trim();
  if (!text) return undefined;
  const seconds = Number(text);
  const wait = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(text) - Date.now();
  return Number.isFinite(wait) ? Math.max(0, wait) : undefined;
}

/** Milliseconds that Google asks to wait, in the details of an error (`google.rpc.RetryInfo`). */
export function retryDelayIn({ details }: JsonObject): number | undefined {
  if (!Array.isArray(details)) return undefined;
  const info: unknown = details.find((detail) => isPlainObject(detail) && detail['retryDelay']);
  const delay = isPlainObject(info) ? info['retryDelay'] : undefined;
  const seconds = typeof delay === 'string' ? /^(\d+(?:\.\d+)?)s$/.exec(delay)?.[1] : undefined;
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}
