/** True where users are: an inspector shows the conversations of all of them. */
export function isProduction(): boolean {
  return globalThis.process?.env?.['NODE_ENV'] === 'production';
}
