import type {
  Client,
  ElicitRequestParams,
  ElicitResult,
  JsonSchemaValidator,
  jsonSchemaValidator,
} from '@modelcontextprotocol/client';
import { hasCode } from '../../core/errors/advisor-chain-error.js';
import type { JsonSchema } from '../../core/chat/tool-definition.js';
import type { Cancellation } from '../../core/internal/cancellation.js';
import { SCOPE } from '../../core/internal/package.js';
import type { ToolContext } from '../../core/tool/tool.js';
import type { McpProblem, McpRequestContext, McpServerSettings } from './mcp-options.js';
import { loadClient } from './transport.js';

/** Maximum number of questions of a server that wait for an answer. */
const MAX_QUESTIONS = 20;

export type Question = NonNullable<McpProblem['question']>;

/** Setting of a client, beside the settings of its server. */
export interface ClientSetting {
  /** Name of the server, for the prompts of its questions. */
  readonly server: string;
  /** The end of the connection. */
  readonly ended: Cancellation;
  readonly onToolsChanged: () => void;
  readonly onUnanswered: (question: Question, error: unknown) => void;
  /** The `ask` of the only tool call of the connection. */
  readonly ask?: ToolContext['ask'] | undefined;
}

/** A client of the package, which answers the questions of its server. */
export async function newClient(
  settings: McpServerSettings,
  setting: ClientSetting,
): Promise<Client> {
  const { onElicitation, onSampling, protocol } = settings;
  const { Client } = await loadClient();
  const modes = onElicitation === 'ask' ? { form: {} } : { form: {}, url: {} };
  const client = new Client(
    { ...SCOPE },
    {
      capabilities: {
        ...(onElicitation && { elicitation: modes }),
        ...(onSampling && { sampling: {} }),
      },
      jsonSchemaValidator: NO_CHECK,
      listChanged: {
        tools: { autoRefresh: false, debounceMs: 0, onChanged: setting.onToolsChanged },
      },
      ...(protocol && { versionNegotiation: { mode: protocol } }),
    },
  );
  answerQuestions(client, settings, setting);
  return client;
}

function answerQuestions(
  client: Client,
  { onElicitation, onSampling }: McpServerSettings,
  setting: ClientSetting,
): void {
  const questions = new Questions(setting);
  if (onElicitation)
    client.setRequestHandler('elicitation/create', ({ params }, { mcpReq: { signal } }) =>
      questions.answer('onElicitation', signal, (context) =>
        onElicitation === 'ask' ? askPerson(params, setting) : onElicitation(params, context),
      ),
    );
  if (onSampling)
    client.setRequestHandler('sampling/createMessage', ({ params }, { mcpReq: { signal } }) =>
      questions.answer('onSampling', signal, (context) => onSampling(params, context)),
    );
}

/** The questions of a server that wait for an answer. */
class Questions {
  private open = 0;

  constructor(private readonly setting: ClientSetting) {}

  async answer<T>(
    question: Question,
    request: AbortSignal,
    answer: (context: McpRequestContext) => T | Promise<T>,
  ): Promise<T> {
    const { server, ended, onUnanswered } = this.setting;
    if (this.open >= MAX_QUESTIONS) throw new Error('Too many questions at once.');
    this.open++;
    try {
      return await answer({ server, signal: AbortSignal.any([request, ended.signal]) });
    } catch (error) {
      const isOver = request.aborted || ended.cancelled;
      if (!isOver && !hasCode(error, 'tool_question')) onUnanswered(question, error);
      throw new Error('The question was not answered.'); // another message may have secrets
    } finally {
      this.open--;
    }
  }
}

/** The answer to a form; other questions, and those outside of a call, are declined. */
async function askPerson(
  params: ElicitRequestParams,
  { server, ended, ask }: ClientSetting,
): Promise<ElicitResult> {
  if (!ask || ended.cancelled || !('requestedSchema' in params)) return { action: 'decline' };
  const schema = params.requestedSchema as unknown as JsonSchema;
  try {
    const content = await ask(schema, `The server "${server}" asks: ${params.message}`);
    return { action: 'accept', content: content as NonNullable<ElicitResult['content']> };
  } catch (error) {
    if (hasCode(error, 'tool')) return { action: 'decline' };
    throw error;
  }
}

/** The package would compile the schemas of a server to code; results are checked by the tools. */
const NO_CHECK: jsonSchemaValidator = {
  getValidator<T>(): JsonSchemaValidator<T> {
    return (data) => ({ valid: true, data: data as T, errorMessage: undefined });
  },
};
