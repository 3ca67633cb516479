import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../src/stores/postgres/embedded/startEmbeddedPostgres.js'
import { makeTemporaryFolder } from '../support/temporaryFolder.js'

/** SIGINT (fast), SIGQUIT (immediate) or SIGKILL. */
export const shutdownModes = ['fast', 'immediate', 'killed'] as const

export type ShutdownMode = (typeof shutdownModes)[number]

export interface ChaosDatabase {
  /** Changes on restart, because another process may have taken the old port. */
  readonly url: string
  /** Stops the server, waits, and starts it with the same data. */
  restart(end: ShutdownMode, downMs: number): Promise<void>
  stop(): Promise<void>
}

const signals = { immediate: 'SIGQUIT', killed: 'SIGKILL' } as const

/** Commits survive a server crash, but not a machine crash. */
export const startChaosDatabase = async (): Promise<ChaosDatabase> => {
  const parent = await makeTemporaryFolder('chaos-')
  const folder = join(parent, 'postgres')
  const start = (): Promise<EmbeddedPostgres> =>
    startEmbeddedPostgres({
      folder,
      // Only processes are killed, so data in the page cache is kept.
      settings: { fsync: 'off', full_page_writes: 'off', max_connections: '100' },
      initdbArgs: ['--no-sync'],
      log: () => undefined,
    })
  const readPid = async (): Promise<number> =>
    Number((await readFile(join(folder, 'cluster', 'postmaster.pid'), 'utf8')).split('\n')[0])

  let server = await start()
  const end = async (how: ShutdownMode): Promise<void> => {
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
      await rm(parent, { recursive: true, force: true })
    },
  }
}
