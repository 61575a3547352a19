import { PausedStateError } from '../../src/core/errors/errors.js';
import { fromBase64Url, toBase64Url } from '../../src/core/internal/base64url.js';
import { bytesOf, StateSignature, type Secret } from './state-signature.js';

const PREFIX = 'paused-turn';
/** Version of the format. Fields may be added to it; a change of their meaning is another version. */
const VERSION = '2';
/** Version of states that were signed, and not encrypted: they are read. */
const SIGNED = '1';
const ALGORITHM = 'AES-GCM';
const IV_LENGTH = 12;
const TAG_LENGTH = 16;
/** Authenticated with the text: a state of one version is not read as one of another. */
const HEADER = bytesOf(`${PREFIX}.${VERSION}`);
const INFO = bytesOf('advisor-chain paused turn');

type CryptoKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

/** Encrypts states with a secret, and opens states of older secrets: `paused-turn.2.<iv and text>`. */
export class StateSeal {
  private readonly keys: readonly (() => Promise<CryptoKey>)[];
  private readonly signature: StateSignature;

  /** @param secrets the newest first */
  constructor(secrets: readonly Secret[]) {
    this.signature = new StateSignature(secrets);
    this.keys = secrets.map((secret) => {
      let key: Promise<CryptoKey> | undefined;
      return () => (key ??= deriveKey(secret));
    });
  }

  async seal(text: string): Promise<string> {
    const [newest] = this.keys as [() => Promise<CryptoKey>];
    const iv = crypto.getRandomValues(new Uint8Array(IV_LENGTH));
    const algorithm = { name: ALGORITHM, iv, additionalData: HEADER };
    const encrypted = await crypto.subtle.encrypt(algorithm, await newest(), bytesOf(text));
    const bytes = new Uint8Array(IV_LENGTH + encrypted.byteLength);
    bytes.set(iv);
    bytes.set(new Uint8Array(encrypted), IV_LENGTH);
    return `${PREFIX}.${VERSION}.${toBase64Url(bytes)}`;
  }

  /**
   * The text of a state.
   * @throws {@link PausedStateError} `invalid`, `version` or `signature`
   */
  async open(state: string): Promise<string> {
    const [prefix, version = '', content = '', ...rest] = state.split('.');
    if (prefix === PREFIX && version === SIGNED) return this.signature.verify(state);
    const bytes = fromBase64Url(content);
    if (prefix !== PREFIX || !bytes?.length)
      throw new PausedStateError(
        'The text is not the state of a paused turn: give the id or the state in response.paused.',
        'invalid',
      );
    if (version !== VERSION)
      throw new PausedStateError(
        `The state has version ${version} of its format, and this package reads version ${VERSION}; resume it with the version of the package that made it.`,
        'version',
      );
    if (rest.length > 0 || bytes.length < IV_LENGTH + TAG_LENGTH)
      throw new PausedStateError(
        'The text is not the state of a paused turn: give the id or the state in response.paused.',
        'invalid',
      );
    return this.decrypt(bytes.slice(0, IV_LENGTH), bytes.slice(IV_LENGTH));
  }

  private async decrypt(
    iv: Uint8Array<ArrayBuffer>,
    encrypted: Uint8Array<ArrayBuffer>,
  ): Promise<string> {
    const algorithm = { name: ALGORITHM, iv, additionalData: HEADER };
    for (const key of this.keys) {
      const opened = crypto.subtle.decrypt(algorithm, await key(), encrypted);
      const text = await opened.catch(() => undefined); // of another secret, or changed
      if (text) return new TextDecoder().decode(text);
    }
    throw new PausedStateError(
      'The state cannot be decrypted: it was changed, or made with a secret that is not in `secrets`.',
      'signature',
    );
  }
}

async function deriveKey(secret: Secret): Promise<CryptoKey> {
  const bytes = typeof secret === 'string' ? bytesOf(secret) : new Uint8Array(secret);
  const base = await crypto.subtle.importKey('raw', bytes, 'HKDF', false, ['deriveKey']);
  return crypto.subtle.deriveKey(
    { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info: INFO },
    base,
    { name: ALGORITHM, length: 256 },
    false,
    ['encrypt', 'decrypt'],
  );
}
