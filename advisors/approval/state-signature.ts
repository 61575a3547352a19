import { PausedStateError } from '../../src/core/errors/errors.js';
import { fromBase64Url } from '../../src/core/internal/base64url.js';
import type { Secret } from '../../src/core/internal/secrets.js';

const ALGORITHM = { name: 'HMAC', hash: 'SHA-256' } as const;

type CryptoKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

/** Reads states of version 1, `paused-turn.1.<text>.<signature>`, which were signed by one of the secrets. */
export class StateSignature {
  private readonly keys: readonly (() => Promise<CryptoKey>)[];

  constructor(secrets: readonly Secret[]) {
    this.keys = secrets.map((secret) => {
      let key: Promise<CryptoKey> | undefined;
      return () => (key ??= importKey(secret));
    });
  }

  /**
   * The text that was signed.
   * @throws {@link PausedStateError} `invalid` or `signature`
   */
  async verify(state: string): Promise<string> {
    const [prefix, version, text, signature, ...rest] = state.split('.');
    const bytes = fromBase64Url(text ?? '');
    const mac = fromBase64Url(signature ?? '');
    if (!bytes?.length || !mac?.length || rest.length > 0)
      throw new PausedStateError(
        'The text is not the state of a paused turn: give the id or the state in response.paused.',
        'invalid',
      );
    await this.check(`${prefix}.${version}.${text}`, mac);
    return new TextDecoder().decode(bytes);
  }

  private async check(signed: string, mac: Uint8Array<ArrayBuffer>): Promise<void> {
    const bytes = bytesOf(signed);
    for (const key of this.keys)
      if (await crypto.subtle.verify(ALGORITHM, await key(), mac, bytes)) return;
    throw new PausedStateError(
      'The signature of the state is not valid: it was changed, or signed with a secret that is not in `secrets`.',
      'signature',
    );
  }
}

function importKey(secret: Secret): Promise<CryptoKey> {
  const bytes = typeof secret === 'string' ? bytesOf(secret) : new Uint8Array(secret);
  return crypto.subtle.importKey('raw', bytes, ALGORITHM, false, ['verify']);
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}
