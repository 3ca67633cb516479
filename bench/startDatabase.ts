import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { openPool } from '../src/stores/postgres/database/pool.js'
import { startEmbeddedPostgres } from '../src/stores/postgres/embedded/startEmbeddedPostgres.js'
import { makeFolder } from './makeFolder.js'

export interface Database {
  readonly url: string
  /** A new database with the same content, on the same server; nothing may be connected to this one meanwhile. */
  copy(): Promise<Database>
  /** Drops the database, and stops the server if it is ours. */
  stop(): Promise<void>
}

interface Server {
  readonly url: string
  stop(): Promise<void>
}

/** On `BENCH_DATABASE_URL` (its user needs CREATEDB), otherwise on a local server with default durability. `isSandbox` names it as one. */
export const startDatabase = async ({ isSandbox = false } = {}): Promise<Database> => {
  const borrowed = process.env.BENCH_DATABASE_URL
  const server = borrowed ? { url: borrowed, stop: async () => undefined } : await startServer()
  try {
    const database = await createDatabase(server.url, isSandbox ? '_sandbox' : '')
    return {
      ...database,
      stop: async () => {
        await database.stop()
        await server.stop()
      },
    }
  } catch (error) {
    await server.stop()
    throw error
  }
}

const createDatabase = async (serverUrl: string, suffix: string, template?: string): Promise<Database> => {
  const name = `quittance_bench_${randomBytes(6).toString('hex')}${suffix}`
  const source = template === undefined ? '' : ` template "${template}"`
  await run(serverUrl, `create database "${name}"${source}`)
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return {
    url: url.href,
    copy: () => createDatabase(serverUrl, suffix, name),
    stop: () => run(serverUrl, `drop database if exists "${name}" with (force)`),
  }
}

const startServer = async (): Promise<Server> => {
  const folder = await makeFolder()
  const postgres = await startEmbeddedPostgres({
    folder: join(folder.path, 'postgres'),
    // Ten instances take more than one service has for itself.
    settings: { max_connections: '100' },
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
