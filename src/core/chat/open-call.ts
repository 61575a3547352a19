import { isJsonText, jsonKey } from '../internal/json.js';
import type { Metadata, ToolCall } from './message.js';

/** A tool call whose pieces arrive. */
export class OpenCall {
  /** Id of the provider. */
  id = '';
  /** Id in the answer; undefined until there is one. */
  distinctId: string | undefined;
  name = '';
  metadata: Metadata | undefined;
  private json = '';
  /** Arguments that the scan has not read; only some servers make it necessary. */
  private unread = '';
  private scan: ObjectScan | undefined;
  private key: string | undefined;
  /** Name and length of the arguments when the key was made. */
  private keyed: readonly [name: string, length: number] | undefined;

  /**
   * @param position in the answer
   * @param index the provider's own number
   */
  constructor(
    readonly position: number,
    readonly index: number | undefined,
  ) {}

  get arguments(): string {
    return this.json;
  }

  addArguments(text: string): void {
    this.json += text;
    this.unread += text;
  }

  /** True if the arguments are a whole object. Reads each character once, however often it is asked. */
  get isComplete(): boolean {
    this.scan ??= new ObjectScan();
    this.scan.read(this.unread);
    this.unread = '';
    return this.scan.isClosed && this.scan.isValid(this.json);
  }

  /** A text that is equal for equal calls; undefined if the arguments are not a whole object. */
  get valueKey(): string | undefined {
    const { name, json, keyed } = this;
    if (keyed?.[0] !== name || keyed[1] !== json.length) {
      this.keyed = [name, json.length];
      this.key = this.keyOf(name, json);
    }
    return this.key;
  }

  /** The key of a call with the same index and id. */
  keyOf(name: string | null | undefined, json: string): string | undefined {
    if (!json.trimEnd().endsWith('}')) return undefined;
    try {
      return JSON.stringify([this.index, this.id, name, jsonKey(json)]);
    } catch {
      return undefined; // a fragment
    }
  }

  toToolCall(): ToolCall {
    const { distinctId: id = '', name, json, metadata } = this;
    return { id, name, arguments: json, ...(metadata && { metadata }) };
  }
}

/** Finds the end of a JSON object in pieces of text. */
class ObjectScan {
  /** True if nothing but white space follows the object. */
  isClosed = false;
  private isBroken = false;
  private depth = 0;
  private inString = false;
  private isEscaped = false;
  private valid: boolean | undefined;

  read(text: string): void {
    for (let at = 0; at < text.length && !this.isBroken; at++) this.readChar(text.charCodeAt(at));
  }

  /** @param json the text that was read, parsed at its first end only: no valid one follows */
  isValid(json: string): boolean {
    return (this.valid ??= isJsonText(json));
  }

  private readChar(char: number): void {
    if (this.inString) this.readString(char);
    else if (char === 0x7b || (char === 0x5b && this.depth > 0)) this.open();
    else if (char === 0x7d || char === 0x5d) this.close();
    else if (this.depth === 0) this.isBroken ||= char > 0x20;
    else this.inString = char === 0x22;
    if (this.isBroken) this.isClosed = false;
  }

  private readString(char: number): void {
    if (this.isEscaped) this.isEscaped = false;
    else if (char === 0x5c) this.isEscaped = true;
    else if (char === 0x22) this.inString = false;
  }

  private open(): void {
    this.isBroken ||= this.isClosed;
    this.depth++;
  }

  private close(): void {
    this.isBroken ||= this.depth === 0;
    this.depth--;
    this.isClosed = this.depth === 0;
  }
}
