import type { ChatMemoryRepository, Message } from '../../index.js';
import type { StoredMessage } from '../../stores/chat-memory/index.js';
import { visible } from '../terminal.js';

/** Conversations of a page. */
const PAGE = 100;

/** The ids of all conversations, page by page; one alone if it is given. */
export async function* idsOf(
  repository: ChatMemoryRepository,
  only: string | undefined,
): AsyncGenerator<string> {
  if (only !== undefined) {
    yield only;
    return;
  }
  let after: string | undefined;
  for (;;) {
    const ids = await repository.conversationIds({ limit: PAGE, ...(after && { after }) });
    yield* ids;
    after = ids.at(-1);
    if (ids.length < PAGE) return;
  }
}

/** A message as lines of a terminal. */
export function formatMessage({ version, message }: StoredMessage): string {
  const name = message.role === 'tool' ? `tool ${message.toolName}` : message.role;
  const lines = textOfMessage(message).split('\n');
  const head = `${String(version).padStart(5)}  ${visible(name)}: `;
  return head + lines.map((line) => visible(line)).join(`\n${' '.repeat(7)}`);
}

/** All that a message holds, as text: what is searched. */
export function textOfMessage(message: Message): string {
  const { content } = message;
  const parts = typeof content === 'string' ? [content] : (content ?? []).map(textOfPart);
  const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : [];
  const refusal = message.role === 'assistant' ? message.refusal : undefined;
  return [
    ...parts,
    ...(refusal ? [refusal] : []),
    ...calls.map(({ name, arguments: args }) => `→ ${name} ${args}`),
  ].join('\n');
}

function textOfPart(part: Readonly<Record<string, unknown>> | object): string {
  const { type, text } = part as { readonly type: string; readonly text?: unknown };
  return typeof text === 'string' ? text : `[${type}]`;
}
