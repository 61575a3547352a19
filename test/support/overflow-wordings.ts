/** Words of a server about a request, and where they come from. */
export interface Wording {
  readonly server: string;
  readonly message: string;
  /** The cassette, the issue, or the page that shows them. */
  readonly source: string;
  readonly status?: number;
  readonly code?: string;
  readonly type?: string;
}

const row = (server: string, source: string, message: string, more: object = {}): Wording => ({
  server,
  source,
  message,
  status: 400,
  ...more,
});

/** Requests whose input does not fit. */
export const OVERFLOWS: readonly Wording[] = [
  row(
    'Vertex AI',
    'recorded: google-vertex/generateContent',
    'The input token count (1250074) exceeds the maximum number of tokens allowed (1048576).',
  ),
  row(
    'Bedrock (Nova)',
    'recorded: bedrock/bedrock.converse',
    'The model returned the following errors: Input Tokens Exceeded: Number of input tokens exceeds maximum length. Please update the input to try again.',
  ),
  row(
    'OpenAI, chat completions',
    'developers.openai.com, error codes',
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 8545 tokens. Please reduce the length of the messages.",
    { code: 'context_length_exceeded' },
  ),
  row(
    'OpenAI, responses',
    'anomalyco/opencode#17748',
    'Your input exceeds the context window of this model. Please adjust your input and try again.',
    { code: 'context_length_exceeded' },
  ),
  row(
    'OpenAI, GPT-5',
    'letta, llm_api/error_utils.py',
    'Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 320000 tokens.',
  ),
  row(
    'OpenAI, one text',
    'developers.openai.com, error codes',
    "Invalid 'messages[3].content': string too long. Expected a string with maximum length 10485760, but got a string with length 12000000 instead.",
    { code: 'string_above_max_length' },
  ),
  row(
    'OpenAI, many messages',
    'developers.openai.com, error codes',
    "Invalid 'messages': array too long. Expected an array with maximum length 2048, but got an array with length 2050 instead.",
    { code: 'array_above_max_length' },
  ),
  row('Anthropic', 'pi, utils/overflow.ts', 'prompt is too long: 213462 tokens > 200000 maximum', {
    type: 'invalid_request_error',
  }),
  row(
    'Anthropic, input and output',
    'docs.anthropic.com, context windows',
    'input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or `max_tokens` and try again',
  ),
  row('Anthropic, bytes', 'docs.anthropic.com, errors', 'Request exceeds the maximum size', {
    status: 413,
    type: 'request_too_large',
  }),
  row('Bedrock (Claude)', 'pi, utils/overflow.ts', 'Input is too long for requested model.'),
  row(
    'Bedrock (Titan)',
    'pkdone/paul-genai-test-tools-ts',
    '400 Bad Request: Too many input tokens. Max input tokens: 8192, request input token count: 9279',
  ),
  row(
    'vLLM',
    'earendil-works/pi#5930',
    "This model's maximum context length is 262144 tokens. However, you requested 0 output tokens and your prompt contains at least 262145 input tokens, for a total of at least 262145 tokens. Please reduce the length of the input prompt or the number of requested output tokens.",
    { type: 'BadRequestError' },
  ),
  row(
    'vLLM 0.16',
    'harbor-framework/harbor#996',
    "You passed 1015 input tokens and requested 10 output tokens. However, the model's context length is only 1024 tokens, resulting in a maximum input length of 1014 tokens.",
  ),
  row(
    'vLLM, output included',
    'vllm-project/vllm, entrypoints/utils.py',
    "'max_tokens' or 'max_completion_tokens' is too large: 2000. This model's maximum context length is 4096 tokens and your request has 2104 input tokens (2000 > 4096 - 2104).",
  ),
  row(
    'vLLM by Xinference',
    'langchain-ai/deepagents#468',
    '[address=0.0.0.0:43769, pid=1065] The decoder prompt (length 66501) is longer than the maximum model length of 65536. Make sure that `max_model_len` is no smaller than the number of text tokens.',
    { status: 500 },
  ),
  row(
    'SGLang',
    'sgl-project/sglang#4048',
    'Input length (160062 tokens) exceeds the maximum allowed length (59862 tokens).',
  ),
  row(
    'Together, SGLang',
    'pi, utils/overflow.ts',
    "The input (1000016 tokens) is longer than the model's context length (131072 tokens).",
  ),
  row(
    'LiteLLM',
    'pi, utils/overflow.ts',
    "Requested token count exceeds the model's maximum context length of 131072 tokens.",
  ),
  row(
    'compatible servers',
    'earendil-works/pi#5677',
    "Input length (265330) exceeds model's maximum context length (262144).",
  ),
  row(
    'llama.cpp',
    'ggml-org/llama.cpp, server-context.cpp',
    'request (9412 tokens) exceeds the available context size (8192 tokens), try increasing it',
    { type: 'exceed_context_size_error' },
  ),
  row(
    'llama.cpp, while it answers',
    'ggml-org/llama.cpp, server-context.cpp',
    'Context size has been exceeded.',
    { status: 500 },
  ),
  row(
    'LM Studio',
    'lmstudio-ai',
    'Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.',
  ),
  row(
    'LM Studio, prompt',
    'pi, utils/overflow.ts',
    'The number of tokens to keep from the initial prompt is greater than the context length',
  ),
  row(
    'Ollama',
    'pi, utils/overflow.ts',
    'prompt too long; exceeded max context length by 4 tokens',
  ),
  row(
    'Ollama, embeddings',
    'ollama/ollama, server/routes.go',
    'the input length exceeds the context length',
  ),
  row(
    'DeepSeek',
    'evalstate/fast-agent#621',
    "This model's maximum context length is 131072 tokens. However, you requested 131134 tokens (122942 in the messages, 8192 in the completion). Please reduce the length of the messages or completion.",
    { code: 'invalid_request_error' },
  ),
  row(
    'OpenRouter',
    'ThinkInAIXYZ/deepchat#1320',
    "This endpoint's maximum context length is 131072 tokens. However, you requested about 200000 tokens (199000 of text input, 1000 in the output).",
  ),
  row(
    'Poolside',
    'pi, utils/overflow.ts',
    'Input length 140000 exceeds the maximum allowed input length of 131072 tokens.',
  ),
  row(
    'xAI',
    'pi, utils/overflow.ts',
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
  ),
  row(
    'Groq',
    'console.groq.com, errors',
    'Please reduce the length of the messages or completion.',
  ),
  row(
    'Mistral',
    'pi, utils/overflow.ts',
    'Prompt contains 47171 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
  ),
  row(
    'Cohere',
    'docs.cohere.com, errors',
    'too many tokens: size limit exceeded by 11326 tokens. Try using shorter or fewer inputs. The limit for this model is 132000 tokens.',
  ),
  row('MiniMax', 'pi, utils/overflow.ts', 'invalid params, context window exceeds limit (2013)'),
  row(
    'Moonshot',
    'pi, utils/overflow.ts',
    'Invalid request: Your request exceeded model token limit: 131072 (requested: 140000)',
  ),
  row('Z.AI', 'NousResearch/hermes-agent#2993', 'Prompt exceeds max length', { code: '1261' }),
  row('DashScope', 'QwenLM/Qwen-Agent#615', 'Range of input length should be [1, 30720]'),
  row(
    'SiliconFlow',
    'docs.siliconflow.cn',
    'length of prompt_tokens (40000) must be less than max_seq_len (32768).',
  ),
  row(
    'Doubao',
    'sipeed/picoclaw',
    'Total tokens of image and text exceed max message tokens. Request id: 0217',
  ),
  row(
    'watsonx',
    'agno-agi/agno',
    'the number of input tokens 9000 cannot exceed the total tokens limit 8192 for this model',
  ),
  row(
    'Cloudflare',
    'developers.cloudflare.com, Workers AI',
    '5021: The estimated number of input and maximum output tokens (155740) exceeded this model context window limit (128000).',
    { status: 413 },
  ),
  row(
    'Text Generation Inference',
    'huggingface/text-generation-inference',
    'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 20 `max_new_tokens`',
    { status: 422 },
  ),
  row(
    'GitHub Copilot',
    'pi, utils/overflow.ts',
    'prompt token count of 132000 exceeds the limit of 128000',
    { code: 'model_max_prompt_tokens_exceeded' },
  ),
  row(
    'GitHub Models',
    'github.com/marketplace/models',
    'Request body too large for gpt-4o model. Max size: 8000 tokens.',
    { status: 413, code: 'tokens_limit_reached' },
  ),
  row(
    'Text Generation Inference, input',
    'huggingface/text-generation-inference',
    'Input validation error: `inputs` must have less than 1024 tokens. Given: 2000',
    { status: 422 },
  ),
  row(
    'OpenAI, one part',
    'developers.openai.com, error codes',
    "Invalid 'input[12].content[0].text': string too long. Expected a string with maximum length 10485760, but got a string with length 12000000 instead.",
    { code: 'string_above_max_length' },
  ),
  row('Baidu', 'cloud.baidu.com, error 336007', 'the max input characters: prompt tokens too long'),
  row('a proxy', 'nginx', '413 Request Entity Too Large', { status: 413 }),
  row('Cerebras, an empty body', 'pi, utils/overflow.ts', '', { status: 413 }),
];

/** Other errors that mention tokens, lengths and sizes. */
export const OTHER_ERRORS: readonly Wording[] = [
  row(
    'Google, quota',
    'recorded: google/generateContent',
    'You exceeded your current quota. * Quota exceeded for metric: generativelanguage.googleapis.com/generate_content_paid_tier_input_token_count, limit: 1000000',
    { status: 429 },
  ),
  row(
    'MiniMax by OpenRouter, max_tokens: 10',
    'recorded: openrouter/chat.completions',
    'Token limit reached',
  ),
  row(
    'OpenAI, a token of the prompt',
    'recorded: openai/completions',
    'Invalid token in prompt: 123456. Minimum value is 0, maximum value is 100257 (inclusive).',
  ),
  row(
    'OpenAI, rate',
    'developers.openai.com, rate limits',
    'Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Requested 45000. The input or output tokens must be reduced in order to run successfully.',
    { status: 429, type: 'tokens', code: 'rate_limit_exceeded' },
  ),
  row(
    'Groq, rate',
    'console.groq.com, rate limits',
    'Request too large for model `openai/gpt-oss-120b` on tokens per minute (TPM): Limit 8000, Requested 10013, please reduce your message size and try again.',
    { status: 413, type: 'tokens', code: 'rate_limit_exceeded' },
  ),
  row(
    'Anthropic, rate',
    'docs.anthropic.com, rate limits',
    'The number of input tokens exceeds the rate limit of 40,000 input tokens per minute.',
    { status: 429, type: 'rate_limit_error' },
  ),
  row(
    'Bedrock, throttling',
    'pi, utils/overflow.ts',
    'Too many tokens, please wait before trying again.',
    { status: 429 },
  ),
  row(
    'Anthropic, output',
    'docs.anthropic.com',
    'max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens',
  ),
  row(
    'OpenAI, output',
    'community.openai.com',
    'max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you provided 100000.',
  ),
  row(
    'DeepSeek, output',
    'CherryHQ/cherry-studio#4377',
    'Invalid max_tokens value, the valid range of max_tokens is [1, 8192]',
  ),
  row(
    'Cohere, output',
    'docs.cohere.com, errors',
    'too many tokens: max tokens must be less than or equal to 4096, the maximum output for this model - received 8192.',
  ),
  row(
    'Anthropic, image',
    'docs.anthropic.com, vision',
    'messages.1.content.0.image.source.base64: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes',
  ),
  row(
    'a rate limit that mentions the window',
    'console.groq.com, rate limits',
    'Your prompt is too long for the limits of your plan.',
    { status: 429 },
  ),
  row('an image too large', 'nginx behind a gateway', 'The image is too large', { status: 413 }),
  row(
    'OpenAI, id of a call',
    'community.openai.com',
    "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 52 instead.",
    { code: 'string_above_max_length' },
  ),
  row(
    'OpenAI, tools',
    'community.openai.com',
    "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 130 instead.",
    { code: 'array_above_max_length' },
  ),
  row(
    'FastAPI, an echo of the request',
    'vllm-project/vllm',
    '[{"type":"missing","msg":"Field required","input":{"content":"what does: prompt is too long mean?"}}]',
    { status: 422 },
  ),
  row('an empty body', 'any proxy', ''),
];
