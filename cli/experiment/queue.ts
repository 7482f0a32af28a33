// A queue of trials on a Redis server, by BullMQ. A job is the name of a trial; results do not
// travel through the server: they are in the folder, as for every engine.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Queue } from 'bullmq';
import { InvalidArgumentError, Option } from 'commander';
import { packageRoot } from '../../toolchain/index.ts';
import { UserError } from '../io/fail.ts';
import type { Folder } from './folder.ts';

/** Of a server. */
export interface Address {
  readonly host: string;
  readonly port: number;
  readonly username?: string;
  readonly password?: string;
  readonly db: number;
  readonly tls?: object;
}

const PORT = 6379;
const ANSWER_MS = 10_000;

/** Errors: commander's. */
export function parseRedisUrl(text: string): Address {
  const expected = 'expected redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE], or rediss:// for TLS';
  try {
    const url = new URL(text);
    const [, db = '0'] = /^\/?(\d{1,4})?$/.exec(url.pathname) ?? [undefined, 'x'];
    const isRedis = url.protocol === 'redis:' || url.protocol === 'rediss:';
    if (!isRedis || url.hostname === '' || db === 'x' || url.search !== '' || url.hash !== '')
      throw new InvalidArgumentError(expected);
    return {
      host: url.hostname.replace(/^\[(.*)\]$/, '$1'), // of IPv6
      port: url.port === '' ? PORT : Number(url.port),
      ...(url.username !== '' && { username: decodeURIComponent(url.username) }),
      ...(url.password !== '' && { password: decodeURIComponent(url.password) }),
      db: Number(db),
      ...(url.protocol === 'rediss:' && { tls: {} }),
    };
  } catch {
    throw new InvalidArgumentError(expected);
  }
}

export const urlOption = (): Option =>
  new Option('--url <url>', 'the server: redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE]')
    .argParser(parseRedisUrl)
    .env('KCOVBOX_REDIS')
    .makeOptionMandatory();

/** For messages: without the password. */
export const serverName = ({ host, port }: Address): string =>
  `redis ${host.includes(':') ? `[${host}]` : host}:${port}`;

/** Other plans have other queues, so that a worker gets no trial that its folder does not know. */
export const queueName = ({ hash }: Folder): string => `kcovbox-${hash.slice(0, 32)}`;

/** The names of trials, and no data. */
export type TrialQueue = Queue<null, void>;

/** The packages of the queue, as npm takes them. They are not installed with kcovbox. */
function packages(): string {
  const text = readFileSync(join(packageRoot(), 'package.json'), 'utf8');
  const { peerDependencies } = JSON.parse(text) as { peerDependencies: Record<string, string> };
  return ['bullmq', 'ioredis'].map(name => `${name}@${peerDependencies[name]}`).join(' ');
}

/** BullMQ and its client. Errors: UserError where they are not installed. */
export async function loadQueue() {
  try {
    const [{ Queue, WaitingError, Worker }, { Redis }] = await Promise.all([
      import('bullmq'),
      import('ioredis'),
    ]);
    return { Queue, WaitingError, Worker, Redis };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error;
    throw new UserError(
      `the queue needs two packages: npm install --ignore-scripts ${packages()}, where kcovbox is installed`,
    );
  }
}

/** The answer, or undefined after `ms`. Errors: those of `work`. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>(resolve => {
    timer = setTimeout(resolve, ms, undefined);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Errors: UserError with the server's name, instead of the client's; also if it is silent. */
export async function asked<T>(address: Address, work: Promise<T>): Promise<T> {
  try {
    const answer = await within(
      ANSWER_MS,
      work.then(value => ({ value })),
    );
    if (answer) return answer.value;
  } catch (error) {
    throw new UserError(`${serverName(address)}: ${(error as Error).message}`);
  }
  throw new UserError(`${serverName(address)}: no answer in ${ANSWER_MS / 1000} seconds`);
}

/** Errors: UserError if there is no Redis that lets us in. */
export async function checkServer(address: Address): Promise<void> {
  const { Redis } = await loadQueue();
  const client = new Redis({ ...address, lazyConnect: true, retryStrategy: () => null });
  let reason: Error | undefined;
  client.on('error', error => (reason ??= error));
  try {
    const enter = async (): Promise<void> => {
      try {
        await client.connect();
        await client.ping();
      } catch (error) {
        reason ??= error as Error; // the first one: the others say that the connection is closed
      }
      if (reason?.message.startsWith('NOAUTH')) throw new Error('it wants a password in the URL');
      if (reason && /RESP type|Protocol error/.test(reason.message))
        throw new Error('it is not a Redis server');
      if (reason) throw reason; // also of a database that is not there, where the client goes on
    };
    await asked(address, enter());
  } finally {
    client.disconnect();
  }
}
