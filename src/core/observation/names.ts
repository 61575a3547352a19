/**
 * Recorded attribute names. Names that begin with `advisor_chain.` belong to this library; all
 * others come from the OpenTelemetry semantic conventions 1.45, whose GenAI part is in development.
 */
export const Attribute = {
  AGENT_NAME: 'gen_ai.agent.name',
  CONVERSATION_ID: 'gen_ai.conversation.id',
  DATA_SOURCE_ID: 'gen_ai.data_source.id',
  INPUT_MESSAGES: 'gen_ai.input.messages',
  OPERATION_NAME: 'gen_ai.operation.name',
  OUTPUT_MESSAGES: 'gen_ai.output.messages',
  OUTPUT_TYPE: 'gen_ai.output.type',
  PROVIDER_NAME: 'gen_ai.provider.name',
  REQUEST_FREQUENCY_PENALTY: 'gen_ai.request.frequency_penalty',
  REQUEST_MAX_TOKENS: 'gen_ai.request.max_tokens',
  REQUEST_MODEL: 'gen_ai.request.model',
  REQUEST_PRESENCE_PENALTY: 'gen_ai.request.presence_penalty',
  REQUEST_SEED: 'gen_ai.request.seed',
  REQUEST_STOP_SEQUENCES: 'gen_ai.request.stop_sequences',
  REQUEST_STREAM: 'gen_ai.request.stream',
  REQUEST_TEMPERATURE: 'gen_ai.request.temperature',
  REQUEST_TOP_K: 'gen_ai.request.top_k',
  REQUEST_TOP_P: 'gen_ai.request.top_p',
  RESPONSE_FINISH_REASONS: 'gen_ai.response.finish_reasons',
  RESPONSE_ID: 'gen_ai.response.id',
  RESPONSE_MODEL: 'gen_ai.response.model',
  RESPONSE_TIME_TO_FIRST_CHUNK: 'gen_ai.response.time_to_first_chunk',
  RETRIEVAL_DOCUMENTS: 'gen_ai.retrieval.documents',
  RETRIEVAL_QUERY_TEXT: 'gen_ai.retrieval.query.text',
  SYSTEM_INSTRUCTIONS: 'gen_ai.system_instructions',
  TOKEN_TYPE: 'gen_ai.token.type',
  TOOL_CALL_ARGUMENTS: 'gen_ai.tool.call.arguments',
  TOOL_CALL_ID: 'gen_ai.tool.call.id',
  TOOL_CALL_RESULT: 'gen_ai.tool.call.result',
  TOOL_DEFINITIONS: 'gen_ai.tool.definitions',
  TOOL_DESCRIPTION: 'gen_ai.tool.description',
  TOOL_NAME: 'gen_ai.tool.name',
  TOOL_TYPE: 'gen_ai.tool.type',
  USAGE_CACHE_CREATION_INPUT_TOKENS: 'gen_ai.usage.cache_creation.input_tokens',
  USAGE_CACHE_READ_INPUT_TOKENS: 'gen_ai.usage.cache_read.input_tokens',
  USAGE_INPUT_TOKENS: 'gen_ai.usage.input_tokens',
  USAGE_OUTPUT_TOKENS: 'gen_ai.usage.output_tokens',
  USAGE_REASONING_OUTPUT_TOKENS: 'gen_ai.usage.reasoning.output_tokens',
  ERROR_TYPE: 'error.type',
  EXCEPTION_MESSAGE: 'exception.message',
  EXCEPTION_STACKTRACE: 'exception.stacktrace',
  EXCEPTION_TYPE: 'exception.type',
  SERVER_ADDRESS: 'server.address',
  SERVER_PORT: 'server.port',
  ADVISOR_NAME: 'advisor_chain.advisor.name',
  ADVISOR_ORDER: 'advisor_chain.advisor.order',
  /** Seconds during which no part within the advisor was open. */
  ADVISOR_EXCLUSIVE_TIME: 'advisor_chain.advisor.exclusive_time',
  /** Index of the model call within the turn, from 0; tool calls have their model call's. */
  ITERATION: 'advisor_chain.iteration',
  LIMIT: 'advisor_chain.limit',
  LIMIT_MAX: 'advisor_chain.limit.max',
  OUTCOME: 'advisor_chain.outcome',
  REPLAYED: 'advisor_chain.replayed',
  RESPONSE_CHUNKS: 'advisor_chain.response.chunks',
  RETRY_ATTEMPT: 'advisor_chain.retry.attempt',
  TURN_ID: 'advisor_chain.turn.id',
  TURN_ITERATIONS: 'advisor_chain.turn.iterations',
  TURN_TOOL_CALLS: 'advisor_chain.turn.tool_calls',
} as const;

/** Names of the events of spans. */
export const EventName = {
  EXCEPTION: 'exception',
  /** A failed part was replaced by a call of another model, or by an answer of the advisor. */
  FALLBACK: 'advisor_chain.fallback',
  LIMIT: 'advisor_chain.limit',
  RETRY: 'advisor_chain.retry',
  TIMEOUT: 'advisor_chain.timeout',
} as const;

export const Metric = {
  OPERATION_DURATION: 'gen_ai.client.operation.duration',
  TIME_PER_OUTPUT_CHUNK: 'gen_ai.client.operation.time_per_output_chunk',
  TIME_TO_FIRST_CHUNK: 'gen_ai.client.operation.time_to_first_chunk',
  TOKEN_USAGE: 'gen_ai.client.token.usage',
  LIMIT_BREACHES: 'advisor_chain.limit.breaches',
  TOOL_DURATION: 'advisor_chain.tool.duration',
  TURN_DURATION: 'advisor_chain.turn.duration',
  TURN_ITERATIONS: 'advisor_chain.turn.iterations',
} as const;

/** Values of `gen_ai.operation.name`. */
export const Operation = {
  CHAT: 'chat',
  EXECUTE_TOOL: 'execute_tool',
  INVOKE_AGENT: 'invoke_agent',
  RETRIEVAL: 'retrieval',
} as const;
