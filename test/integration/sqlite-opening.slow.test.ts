import { describeConcurrentOpening } from '../support/sqlite-opening.js';

describeConcurrentOpening({ processes: 4, files: 60 });
