import { itChecksArguments } from '../../support/argument-laws.js';
import { sweep } from '../../support/sweep.js';

itChecksArguments({ texts: sweep(50_000), schemas: sweep(500), values: sweep(2_000) });
