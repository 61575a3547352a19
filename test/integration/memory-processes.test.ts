import { describeSharedMemory } from '../support/memory-processes.js';

describeSharedMemory({ writers: 2, rounds: 2, turns: 8, kills: 4 });
