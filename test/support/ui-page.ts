import {
  AbstractChat,
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  type ChatState,
  type UIMessage,
} from 'ai';

/** The body of a request, as the transport of the page writes it. */
export interface PageBody {
  readonly id: string;
  readonly messages: readonly UIMessage[];
}

/** The state of `useChat` without a page around it. */
class PlainState implements ChatState<UIMessage> {
  status: ChatState<UIMessage>['status'] = 'ready';
  error: Error | undefined;
  messages: UIMessage[] = [];

  pushMessage = (message: UIMessage): void => {
    this.messages = [...this.messages, message];
  };
  popMessage = (): void => {
    this.messages = this.messages.slice(0, -1);
  };
  replaceMessage = (at: number, message: UIMessage): void => {
    this.messages = this.messages.with(at, message);
  };
  snapshot = <T>(value: T): T => structuredClone(value);
}

/** The chat of `useChat`, with its own transport: a server answers its requests in this process. */
export class UIPage extends AbstractChat<UIMessage> {
  readonly bodies: PageBody[] = [];
  constructor(answer: (body: PageBody, signal: AbortSignal) => Promise<Response>, id = 'chat') {
    const bodies: PageBody[] = [];
    const fetch = (_url: unknown, init?: RequestInit): Promise<Response> => {
      const body = JSON.parse(init?.body as string) as PageBody;
      bodies.push(body);
      return answer(body, init?.signal ?? new AbortController().signal);
    };
    super({
      id,
      state: new PlainState(),
      transport: new DefaultChatTransport({ api: 'http://localhost/', fetch }),
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
    });
    this.bodies = bodies;
  }

  /** Sends a message, and waits for the end of its answer. */
  async ask(text: string): Promise<void> {
    await this.sendMessage({ text });
    if (this.error) throw this.error;
  }

  /** Answers all approval requests of the last message, and waits for the end of the resumed turn. */
  async decide(approved: boolean): Promise<void> {
    for (const part of this.lastMessage?.parts ?? [])
      if ('approval' in part && part.state === 'approval-requested')
        await this.addToolApprovalResponse({ id: part.approval.id, approved });
    while (this.status !== 'ready' && this.status !== 'error')
      await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
