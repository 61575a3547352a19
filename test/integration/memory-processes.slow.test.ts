import { describeSharedMemory } from '../support/memory-processes.js';

describeSharedMemory({ writers: 3, rounds: 20, turns: 64, kills: 50 });
