/** The name of a field as words: `tokensPerEstimate` is "tokens per estimate". */
export function inWords(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/[_-]+/g, ' ')
    .toLowerCase()
    .slice(0, 80);
}
