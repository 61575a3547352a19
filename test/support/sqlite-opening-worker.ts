/** A process that opens each file whose path it receives, and sends the result. */
import { SqliteChatMemoryRepository } from '../../src/stores/chat-memory/sqlite-chat-memory-repository.js';

process.on('message', (file: string) => {
  SqliteChatMemoryRepository.open(file)
    .then((repository) => repository.close())
    .then(
      () => process.send?.('opened'),
      (error: unknown) => process.send?.(String(error)),
    );
});
process.on('disconnect', () => process.exit(0));
process.send?.('ready');
