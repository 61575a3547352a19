import type { ToolResult } from '../chat/chat-event.js';
import { textOf, type ToolCall } from '../chat/message.js';
import type { ComparedCall } from '../tool-execution/call-arguments.js';

/** A boolean or a number answers its arguments: `true` for another file is something new. */
const VALUE = /^\s*(?:true|false|-?\d[\d.,]*)\s*$/;
const MAX_VALUE_LENGTH = 40;

/**
 * The result of a call, to compare with others: of an error, or of a reading, whatever the arguments
 * were; for other tools "done" is another result for each call.
 */
export class Finding {
  /** Undefined for a result with media, which is always new. */
  private readonly text: string | undefined;
  private readonly isError: boolean;
  private readonly hasArguments: boolean;

  constructor(
    private readonly compared: ComparedCall,
    { content, isError = false }: ToolResult,
    isReading: boolean,
  ) {
    const { id } = compared.call;
    const isText = typeof content === 'string' || content.every(({ type }) => type === 'text');
    const text = isText ? textOf(content) : undefined;
    // the text of an unknown error ends with the id of the call
    this.text = isError && text?.endsWith(id) ? text.slice(0, -id.length) : text;
    this.isError = isError;
    this.hasArguments = !isError && !(isReading && !isValue(text));
  }

  get call(): ToolCall {
    return this.compared.call;
  }

  equals(other: Finding): boolean {
    if (this.text === undefined || this.text !== other.text) return false;
    if (this.call.name !== other.call.name || this.isError !== other.isError) return false;
    return !this.hasArguments || this.compared.equals(other.compared);
  }

  /** True for another result of the same call: a tool whose answers change may be asked again. */
  contradicts(other: Finding): boolean {
    const differs = this.text !== other.text || this.isError !== other.isError;
    return differs && this.compared.equals(other.compared);
  }
}

function isValue(text = ''): boolean {
  return text.length <= MAX_VALUE_LENGTH && VALUE.test(text);
}
