// The process that holds an embedded database: node embedded-server.js <directory> <idle timeout in ms>
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { DatabaseServer } from './embedded/database-server.js';
import { lockDirectory, unlockDirectory } from './embedded/directory-lock.js';
import { readAddress, writeAddress } from './embedded/server-file.js';
import { HELD } from './embedded/server-process.js';

const [directory = '', idleTimeout = ''] = process.argv.slice(2);
if (!(await lockDirectory(directory))) process.exit(HELD);
const earlier = readAddress(directory);
const database = await PGlite.create(join(directory, 'data'));
const token = earlier?.token ?? randomBytes(24).toString('hex');
const server = new DatabaseServer(database, token, Number(idleTimeout), () => void end());
const port = await server.listen(earlier?.port);
writeAddress(directory, { pid: process.pid, port, token });

/** Ends the process with a checkpoint, so that the next one need not recover the database. */
async function end(): Promise<void> {
  await server.close();
  await database.close();
  unlockDirectory(directory);
  process.exit(0);
}

process.on('SIGTERM', () => void end());
process.on('SIGINT', () => void end());
