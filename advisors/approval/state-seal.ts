import { PausedStateError } from '../../src/core/errors/errors.js';
import { fromBase64Url, toBase64Url } from '../../src/core/internal/base64url.js';
import type { Secret } from '../../src/core/internal/secrets.js';
import { TextCipher } from '../../src/core/internal/text-cipher.js';
import { StateSignature } from './state-signature.js';

const PREFIX = 'paused-turn';
/** Version of the format. Fields may be added to it; a change of their meaning is another version. */
const VERSION = '2';
/** Version of states that were signed, and not encrypted: they are read. */
const SIGNED = '1';
/** Authenticated with the text: a state of one version is not read as one of another. */
const HEADER = `${PREFIX}.${VERSION}`;

/** Encrypts states with a secret, and opens states of older secrets: `paused-turn.2.<iv and text>`. */
export class StateSeal {
  private readonly cipher: TextCipher;
  private readonly signature: StateSignature;

  /** @param secrets the newest first */
  constructor(secrets: readonly Secret[]) {
    this.signature = new StateSignature(secrets);
    this.cipher = new TextCipher(secrets, 'advisor-chain paused turn');
  }

  async seal(text: string): Promise<string> {
    return `${HEADER}.${toBase64Url(await this.cipher.encrypt(text, HEADER))}`;
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
    if (rest.length > 0 || bytes.length < TextCipher.MIN_LENGTH)
      throw new PausedStateError(
        'The text is not the state of a paused turn: give the id or the state in response.paused.',
        'invalid',
      );
    const text = await this.cipher.decrypt(bytes, HEADER);
    if (text !== undefined) return text;
    throw new PausedStateError(
      'The state cannot be decrypted: it was changed, or made with a secret that is not in `secrets`.',
      'signature',
    );
  }
}
