// The process of the recipe: serves the function on a port.
import { createServer } from 'node:http';
import { serve } from 'inngest/node';
import { inngest, turn } from '../inngest.ts';

createServer(serve({ client: inngest, functions: [turn] })).listen(
  Number(process.env.PORT),
  '127.0.0.1',
);
