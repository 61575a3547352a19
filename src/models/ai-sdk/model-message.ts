/** Options of providers by their name. */
type ProviderOptions = Record<string, { [key: string]: Json | undefined }>;
type Json = null | boolean | number | string | Json[] | { [key: string]: Json | undefined };

interface WithOptions {
  providerOptions?: ProviderOptions;
}

/** A message of the AI SDK, of any version, by its form. */
export interface AiSdkMessage {
  readonly role: string;
  readonly content: string | readonly object[];
  readonly providerOptions?: object | undefined;
}

/** A message as the versions 6 and 7 of the AI SDK take it in `messages`. */
export type ModelMessage =
  | (WithOptions & { role: 'system'; content: string })
  | (WithOptions & { role: 'user'; content: string | (TextPart | FilePart)[] })
  | (WithOptions & { role: 'assistant'; content: string | AssistantPart[] })
  | (WithOptions & { role: 'tool'; content: (ToolResultPart | ToolApprovalResponse)[] });

type AssistantPart =
  | TextPart
  | FilePart
  | (WithOptions & { type: 'reasoning'; text: string })
  | (WithOptions & {
      type: 'tool-call';
      toolCallId: string;
      toolName: string;
      input: unknown;
      providerExecuted?: boolean;
    })
  | ToolResultPart
  | { type: 'tool-approval-request'; approvalId: string; toolCallId: string };

interface TextPart extends WithOptions {
  type: 'text';
  text: string;
}

interface FilePart extends WithOptions {
  type: 'file';
  /** Content in base64 or bytes, or an address. */
  data: string | Uint8Array;
  mediaType: string;
  filename?: string;
}

interface ToolResultPart extends WithOptions {
  type: 'tool-result';
  toolCallId: string;
  toolName: string;
  output: ToolResultOutput;
}

interface ToolApprovalResponse {
  type: 'tool-approval-response';
  approvalId: string;
  approved: boolean;
  reason?: string;
}

type ToolResultOutput = WithOptions &
  (
    | { type: 'text' | 'error-text'; value: string }
    | { type: 'json' | 'error-json'; value: Json }
    | { type: 'execution-denied'; reason?: string }
    | { type: 'content'; value: ResultPart[] }
  );

type ResultPart =
  | TextPart
  | (WithOptions & { type: 'file-data' | 'image-data'; data: string; mediaType: string })
  | (WithOptions & { type: 'file-url' | 'image-url'; url: string })
  | (WithOptions & { type: 'file-id' | 'image-file-id'; fileId: string | Record<string, string> })
  | (WithOptions & { type: 'custom' });
