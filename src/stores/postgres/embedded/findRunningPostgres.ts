import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from 'pg'
import { hasErrorCode } from './binaries.js'
import { databaseName } from './createCluster.js'

export const findRunningPostgres = async (folder: string): Promise<string | null> => {
  try {
    const [, , , port] = (await readFile(join(folder, 'cluster', 'postmaster.pid'), 'utf8')).split('\n')
    const password = (await readFile(join(folder, 'password'), 'utf8')).trim()
    const url = `postgres://${databaseName}:${password}@127.0.0.1:${port}/${databaseName}?sslmode=disable`
    await connectOnce(url)
    return url
  } catch (error) {
    // Never started, or a killed server left its files behind.
    if (hasErrorCode(error, 'ENOENT', 'ECONNREFUSED')) return null
    throw error
  }
}

const connectOnce = async (url: string): Promise<void> => {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000 })
  client.on('error', () => undefined)
  try {
    await client.connect()
  } finally {
    await client.end()
  }
}
