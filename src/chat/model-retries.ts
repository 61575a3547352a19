import { ContextKey } from './context.js';

/**
 * Maximum number of retries that the model may make by itself in each call; undefined leaves it to
 * the model. An advisor that repeats model calls sets it to 0, so that the two do not multiply.
 */
export const MODEL_RETRIES = new ContextKey<number | undefined>('advisor-chain.model-retries');
