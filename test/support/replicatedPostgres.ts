import { cp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openPool } from '../../src/stores/postgres/database/pool.js'
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../src/stores/postgres/embedded/startEmbeddedPostgres.js'
import { patientPool } from './patientPool.js'
import { pollUntil } from './pollUntil.js'
import { overTcp, startTcpProxy } from './tcpProxy.js'
import { makeTemporaryFolder } from './temporaryFolder.js'

export interface ReplicatedPostgres {
  readonly primaryUrl: string
  readonly standbyUrl: string
  /** Cuts the standby off; what it has not received is lost with the primary. */
  stopReplication(): Promise<void>
  /** Whether a commit waits for the standby. */
  isCommitWaiting(): Promise<boolean>
  /** Kills every process of the primary, as a power failure would, and promotes the standby. */
  failOver(): Promise<void>
  stop(): Promise<void>
}

/** A primary and a streaming standby, with the binaries that the service would use. */
export const startReplicatedPostgres = async ({
  isSynchronous,
}: {
  readonly isSynchronous: boolean
}): Promise<ReplicatedPostgres> => {
  const parent = await makeTemporaryFolder('quittance-replicas-')
  const folders = { primary: join(parent, 'primary'), standby: join(parent, 'standby') }
  const start = (folder: string, settings: Readonly<Record<string, string>>): Promise<EmbeddedPostgres> =>
    startEmbeddedPostgres({ folder, settings, initdbArgs: ['--no-sync'], log: () => undefined })

  // A copy of a server that was shut down needs no backup tool.
  await (await start(folders.primary, {})).stop()
  await cp(folders.primary, folders.standby, { recursive: true, preserveTimestamps: true })
  await writeFile(join(folders.standby, 'cluster', 'standby.signal'), '')

  const primary = await start(folders.primary, {
    // No crash of the machine is tested, only of the server.
    fsync: 'off',
    ...(isSynchronous ? { synchronous_standby_names: '*' } : {}),
  })
  const replication = await startTcpProxy(Number(new URL(primary.url).port))
  const standby = await start(folders.standby, {
    fsync: 'off',
    primary_conninfo: overTcp(primary.url, replication.port),
  })
  const ask = async <Row extends object>(url: string, statement: string): Promise<readonly Row[]> => {
    const pool = openPool({ ...patientPool, url, maxConnections: 1 })
    try {
      return (await pool.query<Row>(statement)).rows
    } finally {
      await pool.end()
    }
  }
  const isStreaming = async (): Promise<boolean> => {
    const rows = await ask<{ sync_state: string }>(primary.url, 'select sync_state from pg_stat_replication')
    return rows[0]?.sync_state === (isSynchronous ? 'sync' : 'async')
  }
  await pollUntil(isStreaming, 'the standby to stream')

  return {
    primaryUrl: primary.url,
    standbyUrl: standby.url,
    stopReplication: () => replication.refuse(),
    async isCommitWaiting() {
      const waiting = "select pid from pg_stat_activity where wait_event = 'SyncRep'"
      return (await ask(primary.url, waiting)).length > 0
    },
    async failOver() {
      const children = await ask<{ pid: number }>(primary.url, 'select pid from pg_stat_activity')
      for (const pid of [await readPostmaster(folders.primary), ...children.map(({ pid }) => pid)]) kill(pid)
      await ask(standby.url, 'select pg_promote()')
    },
    async stop() {
      await Promise.all([primary.stop(), standby.stop(), replication.close()])
      await rm(parent, { recursive: true, force: true })
    },
  }
}

const readPostmaster = async (folder: string): Promise<number> =>
  Number((await readFile(join(folder, 'cluster', 'postmaster.pid'), 'utf8')).split('\n')[0])

/** Processes end by themselves between the listing and the signal. */
const kill = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // Gone.
  }
}
