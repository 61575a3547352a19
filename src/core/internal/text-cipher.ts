import type { Secret } from './secrets.js';

const ALGORITHM = 'AES-GCM';
const IV_LENGTH = 12;
const TAG_LENGTH = 16;

type Bytes = Uint8Array<ArrayBuffer>;
type CryptoKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

/** Encrypts texts with a secret, and decrypts texts of older secrets. A changed text is not decrypted. */
export class TextCipher {
  /** Bytes of the shortest encrypted text. */
  static readonly MIN_LENGTH = IV_LENGTH + TAG_LENGTH;

  private readonly keys: readonly (() => Promise<CryptoKey>)[];

  /**
   * @param secrets the newest first
   * @param purpose a key of one purpose decrypts no text of another one
   */
  constructor(secrets: readonly Secret[], purpose: string) {
    this.keys = secrets.map((secret) => {
      let key: Promise<CryptoKey> | undefined;
      return () => (key ??= deriveKey(secret, purpose));
    });
  }

  /** @param bound a text that has to be the same when it is decrypted */
  async encrypt(text: string, bound: string): Promise<Bytes> {
    const [newest] = this.keys as [() => Promise<CryptoKey>];
    const iv = crypto.getRandomValues(new Uint8Array(IV_LENGTH));
    const algorithm = { name: ALGORITHM, iv, additionalData: bytesOf(bound) };
    const encrypted = await crypto.subtle.encrypt(algorithm, await newest(), bytesOf(text));
    const bytes = new Uint8Array(IV_LENGTH + encrypted.byteLength);
    bytes.set(iv);
    bytes.set(new Uint8Array(encrypted), IV_LENGTH);
    return bytes;
  }

  /** The text; undefined if it was changed, is bound to another text, or is of a secret that is not known. */
  async decrypt(bytes: Bytes, bound: string): Promise<string | undefined> {
    const iv = bytes.slice(0, IV_LENGTH);
    const algorithm = { name: ALGORITHM, iv, additionalData: bytesOf(bound) };
    for (const key of this.keys) {
      const opened = crypto.subtle.decrypt(algorithm, await key(), bytes.slice(IV_LENGTH));
      const text = await opened.catch(() => undefined); // of another secret, or changed
      if (text) return new TextDecoder().decode(text);
    }
    return undefined;
  }
}

async function deriveKey(secret: Secret, purpose: string): Promise<CryptoKey> {
  const bytes = typeof secret === 'string' ? bytesOf(secret) : new Uint8Array(secret);
  const base = await crypto.subtle.importKey('raw', bytes, 'HKDF', false, ['deriveKey']);
  return crypto.subtle.deriveKey(
    { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info: bytesOf(purpose) },
    base,
    { name: ALGORITHM, length: 256 },
    false,
    ['encrypt', 'decrypt'],
  );
}

function bytesOf(text: string): Bytes {
  return new TextEncoder().encode(text);
}
