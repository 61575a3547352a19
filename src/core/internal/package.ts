/** Name and version of this package: the scope of spans and metrics, and a client of protocols. */
export const SCOPE = { name: 'advisor-chain', version: '0.1.0' } as const;
