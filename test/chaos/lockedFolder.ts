import { rmSync } from 'node:fs'
import { rm, stat } from 'node:fs/promises'
import { lockFolder } from '../../src/stores/postgres/embedded/lockFolder.js'
import { thisMachine } from '../../src/stores/postgres/embedded/machine.js'
import { listTemporaryFolders, makeTemporaryFolder } from '../support/temporaryFolder.js'

/** A temporary folder, locked until it is removed or this process ends. */
export interface LockedFolder {
  readonly path: string
  remove(): Promise<void>
}

/* Other tests remove folders with their prefix if no Postgres is running there, as during a restart here. */
const prefix = 'quittance-chaos-'
const lockGraceMs = 60_000

const lock = (path: string) => lockFolder(path, thisMachine(), () => undefined)

/** Also removes folders of killed runs. */
export const makeLockedFolder = async (): Promise<LockedFolder> => {
  await removeStaleFolders()
  const path = await makeTemporaryFolder(prefix)
  const held = await lock(path)
  const removeNow = () => rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
  process.once('exit', removeNow)
  return {
    path,
    remove: async () => {
      await rm(path, { recursive: true, force: true })
      held.release()
      process.off('exit', removeNow)
    },
  }
}

const removeStaleFolders = async (): Promise<void> => {
  for (const path of await listTemporaryFolders(prefix)) {
    try {
      // A new folder may not be locked yet.
      if (Date.now() - (await stat(path)).ctimeMs < lockGraceMs) continue
      const held = await lock(path)
      if (held.isExclusive) await rm(path, { recursive: true, force: true })
      held.release()
    } catch {
      // In use, or being removed concurrently.
    }
  }
}
