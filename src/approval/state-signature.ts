import { PausedStateError } from '../errors/paused-state-error.js';
import { fromBase64Url, toBase64Url } from '../internal/base64url.js';

/** A key of signatures: at least 32 characters, or 32 bytes. */
export type Secret = string | Uint8Array;

const PREFIX = 'paused-turn';
/** Version of the format. Fields may be added to it; a change of their meaning is another version. */
const VERSION = 1;
const ALGORITHM = { name: 'HMAC', hash: 'SHA-256' } as const;

type CryptoKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

/** Signs texts with a secret, and accepts those of older secrets. */
export class StateSignature {
  private readonly keys: readonly (() => Promise<CryptoKey>)[];

  /** @param secrets the newest first */
  constructor(secrets: readonly Secret[]) {
    this.keys = secrets.map((secret) => {
      let key: Promise<CryptoKey> | undefined;
      return () => (key ??= importKey(secret));
    });
  }

  /** The text with a signature: `paused-turn.1.<text>.<signature>`. */
  async sign(text: string): Promise<string> {
    const signed = `${PREFIX}.${VERSION}.${toBase64Url(bytesOf(text))}`;
    const [newest] = this.keys as [() => Promise<CryptoKey>];
    const signature = await crypto.subtle.sign(ALGORITHM, await newest(), bytesOf(signed));
    return `${signed}.${toBase64Url(new Uint8Array(signature))}`;
  }

  /**
   * The text that was signed.
   * @throws {@link PausedStateError} `invalid`, `version` or `signature`
   */
  async verify(state: string): Promise<string> {
    const [prefix, version, text, signature, ...rest] = state.split('.');
    const bytes = fromBase64Url(text ?? '');
    const mac = fromBase64Url(signature ?? '');
    if (prefix !== PREFIX || !bytes?.length || !mac?.length || rest.length > 0)
      throw new PausedStateError('The text is not the state of a paused turn.', 'invalid');
    if (version !== String(VERSION))
      throw new PausedStateError(
        `The state has version ${version} of its format, and this package reads version ${VERSION}; resume it with the version of the package that made it.`,
        'version',
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
  return crypto.subtle.importKey('raw', bytes, ALGORITHM, false, ['sign', 'verify']);
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}
