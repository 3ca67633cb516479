import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { openPool } from '../src/stores/postgres/database/pool.js'
import { startEmbeddedPostgres } from '../src/stores/postgres/embedded/startEmbeddedPostgres.js'
import { makeFolder } from './makeFolder.js'

export interface Database {
  readonly url: string
  /** Drops the database, and stops the server if it is ours. */
  stop(): Promise<void>
}

interface Server {
  readonly url: string
  stop(): Promise<void>
}

/** On `BENCH_DATABASE_URL` (its user needs CREATEDB), otherwise on a local server with default durability. */
export const startDatabase = async (): Promise<Database> => {
  const borrowed = process.env.BENCH_DATABASE_URL
  const server = borrowed ? { url: borrowed, stop: async () => undefined } : await startServer()
  const name = `quittance_bench_${randomBytes(6).toString('hex')}`
  try {
    await run(server.url, `create database "${name}"`)
  } catch (error) {
    await server.stop()
    throw error
  }
  const url = new URL(server.url)
  url.pathname = `/${name}`
  return {
    url: url.href,
    stop: async () => {
      await run(server.url, `drop database if exists "${name}" with (force)`)
      await server.stop()
    },
  }
}

const startServer = async (): Promise<Server> => {
  const folder = await makeFolder()
  const postgres = await startEmbeddedPostgres({
    folder: join(folder.path, 'postgres'),
    log: () => undefined,
  })
  return {
    url: postgres.url,
    stop: async () => {
      await postgres.stop()
      await folder.remove()
    },
  }
}

const run = async (url: string, statement: string): Promise<void> => {
  const pool = openPool({ url, maxConnections: 1, onError: () => undefined })
  try {
    await pool.query(statement)
  } finally {
    await pool.end()
  }
}
