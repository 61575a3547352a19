import { command } from '../command.js';
import { deleteCommand } from './delete-command.js';
import { exportCommand } from './export-command.js';
import { searchCommand } from './search-command.js';
import { showCommand } from './show-command.js';

export const memoryCommand = command({
  name: 'memory',
  description: 'Show, search, export and delete conversations of a chat memory',
  commands: {
    show: showCommand,
    search: searchCommand,
    export: exportCommand,
    delete: deleteCommand,
  },
});
