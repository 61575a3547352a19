/** Options of an {@link Inspector}. */
export interface InspectorOptions {
  /** Maximum number of turns that are kept; the oldest ended ones go first. @default 500 */
  readonly maxTurns?: number | undefined;
  /** Maximum number of bytes of kept turns, estimated; the oldest ended ones go first. @default 50_000_000 */
  readonly maxBytes?: number | undefined;
  /** Maximum number of entries of the timeline of a turn; later ones are left out. @default 10_000 */
  readonly maxEntries?: number | undefined;
  /**
   * Removes from a text parts that must not be shown, after the rules of the guard for secrets, which
   * always apply. @default no further redaction
   */
  readonly redact?: ((text: string) => string) | undefined;
  /**
   * Records turns also if `NODE_ENV` is `production`. All users' conversations can be read
   * in an inspector. @default false
   */
  readonly allowInProduction?: boolean | undefined;
  /** @default left of all others */
  readonly order?: number | undefined;
}
