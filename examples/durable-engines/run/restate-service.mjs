// The process of the recipe: serves the workflow on a port.
import { serve } from '@restatedev/restate-sdk';
import { turns } from '../restate.ts';

// the SDK needs Node.js 22; this is all that it misses on 20
Promise.withResolvers ??= function withResolvers() {
  const parts = {};
  parts.promise = new this((resolve, reject) => Object.assign(parts, { resolve, reject }));
  return parts;
};
await serve({ services: [turns], port: Number(process.env.PORT) });
