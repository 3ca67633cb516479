import { databaseUnavailable } from '../database/mapDatabaseErrors.js'

// After this long in the queue the database is considered unavailable.
const maxWaitMs = 5_000

/** Runs the work of one key one after the other; different keys run at once. Rejects what waited too long. */
export const createKeyQueue = () => {
  const last = new Map<string, Promise<unknown>>()

  return <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const since = performance.now()
    const run = async (): Promise<T> => {
      if (performance.now() - since > maxWaitMs) throw databaseUnavailable()
      return await work()
    }
    const earlier = last.get(key)
    const current = earlier === undefined ? run() : earlier.then(run)
    const ended = current
      .catch(() => undefined)
      .then(() => {
        if (last.get(key) === ended) last.delete(key)
      })
    last.set(key, ended)
    return current
  }
}
