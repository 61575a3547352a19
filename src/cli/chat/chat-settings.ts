/** The options of a chat. */
export interface ChatSettings {
  readonly module?: string | undefined;
  readonly model?: string | undefined;
  readonly system?: string | undefined;
  /** Programs or URLs. */
  readonly mcp: readonly string[];
  /** A file of SQLite, or the address of a database. */
  readonly memory?: string | undefined;
  readonly conversation?: string | undefined;
  readonly approve?: 'ask' | 'writes' | 'never' | undefined;
  /** True if the input is a terminal, at which questions can be asked. */
  readonly isInteractive: boolean;
}
