import { describe, textOf, type Message, type ToolMessage } from '../chat/message.js';
import { InvalidArgumentError } from '../errors.js';

/** Options of {@link trimToolResults}. */
export interface TrimOptions {
  /** Number of the latest results that stay as they are; 0 or more. @default 3 */
  readonly keepLast?: number | undefined;
  /** Shorter results stay too; characters, 0 or more. @default 200 */
  readonly minCharacters?: number | undefined;
}

/** Changes messages on their way from the memory to a model; what is stored stays as it is. */
export type MessageTrimmer = (messages: readonly Message[]) => readonly Message[];

/**
 * Takes the contents of old tool results out of a history, since they are large and soon of no use; the results themselves stay, so
 * that every call has one. For `trim` of a {@link MessageWindowChatMemory}, or for an advisor inside the tool loop.
 * @throws {@link InvalidArgumentError} if an option is out of range
 */
export function trimToolResults({ keepLast = 3, minCharacters = 200 }: TrimOptions = {}): MessageTrimmer {
  for (const [name, value] of Object.entries({ keepLast, minCharacters }))
    if (!Number.isInteger(value) || value < 0)
      throw new InvalidArgumentError(`trimToolResults: ${name} must be an integer of 0 or more, not ${describe(value)}`);
  return (messages) => {
    const results = messages.filter((message) => message.role === 'tool');
    const old = new Set<Message>(
      results.slice(0, Math.max(0, results.length - keepLast)).filter((result) => isLong(result, minCharacters)),
    );
    return old.size === 0 ? messages : messages.map((message) => (old.has(message) ? withoutContent(message as ToolMessage) : message));
  };
}

/** Media have no characters, but are long. */
function isLong({ content }: ToolMessage, minCharacters: number): boolean {
  return textOf(content).length >= minCharacters || (typeof content !== 'string' && content.some(({ type }) => type !== 'text'));
}

function withoutContent(message: ToolMessage): ToolMessage {
  const size = textOf(message.content).length;
  return { ...message, content: `[An old result of ${size} characters was removed. Call the tool again if it is needed.]` };
}
