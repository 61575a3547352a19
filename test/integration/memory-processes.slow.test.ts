import { describeSharedMemory } from '../support/memory-processes.js';
import { inFull } from '../support/sweep.js';

describeSharedMemory({ writers: 3, rounds: inFull(20, 6), turns: 64, kills: inFull(50, 15) });
