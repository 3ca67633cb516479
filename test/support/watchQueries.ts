import type { Pool } from 'pg'

/** Texts of the statements that the only connection of a pool sends from now on. */
export const watchQueries = async (pool: Pool): Promise<readonly unknown[]> => {
  const client = await pool.connect()
  const sent: unknown[] = []
  const query: CallableFunction = client.query
  Object.assign(client, {
    query: (...given: readonly unknown[]): unknown => {
      sent.push(given[0])
      return Reflect.apply(query, client, given)
    },
  })
  client.release()
  return sent
}
