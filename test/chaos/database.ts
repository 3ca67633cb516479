import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../src/stores/postgres/embedded/startEmbeddedPostgres.js'
import { makeOwnFolder } from './ownFolder.js'

/** How Postgres goes down: it rolls back and closes, it drops everything, or the kernel ends it. */
export const databaseEnds = ['fast', 'immediate', 'killed'] as const

/** One of `databaseEnds`. */
export type DatabaseEnd = (typeof databaseEnds)[number]

/** A Postgres of our own that a test may take down. */
export interface ChaosDatabase {
  /** Where it is reached now; the port changes when it is restarted, for another process may have taken the old one. */
  readonly url: string
  /** Takes it down, leaves it down, and starts it again with the same data. */
  restart(end: DatabaseEnd, downMs: number): Promise<void>
  /** Ends it and removes its folder. */
  stop(): Promise<void>
}

const signals = { immediate: 'SIGQUIT', killed: 'SIGKILL' } as const

/** Starts a Postgres whose commits survive its own crash, as those of any server do. */
export const startChaosDatabase = async (): Promise<ChaosDatabase> => {
  const parent = await makeOwnFolder()
  const folder = join(parent.path, 'postgres')
  const start = (): Promise<EmbeddedPostgres> =>
    startEmbeddedPostgres({
      folder,
      // The machine does not crash here, only its processes: what is written to the kernel is kept.
      settings: { fsync: 'off', full_page_writes: 'off', max_connections: '100' },
      initdbArgs: ['--no-sync'],
      log: () => undefined,
    })
  const readPid = async (): Promise<number> =>
    Number((await readFile(join(folder, 'cluster', 'postmaster.pid'), 'utf8')).split('\n')[0])

  let server = await start()
  const end = async (how: DatabaseEnd): Promise<void> => {
    if (how !== 'fast') {
      const ended = new Promise((resolve) => server.onExit(resolve))
      process.kill(await readPid(), signals[how])
      await ended
    }
    await server.stop()
  }
  return {
    get url() {
      return server.url
    },
    restart: async (how, downMs) => {
      await end(how)
      await sleep(downMs)
      server = await start()
    },
    stop: async () => {
      await server.stop()
      await parent.remove()
    },
  }
}

/** Puts a proxy's port, which stays, in the place of the database's own. */
export const throughPort = ({ url }: ChaosDatabase, port: number): string => {
  const through = new URL(url)
  through.port = String(port)
  return through.href
}
