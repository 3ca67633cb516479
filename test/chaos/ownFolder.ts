import { rmSync } from 'node:fs'
import { rm, stat } from 'node:fs/promises'
import { lockFolder } from '../../src/stores/postgres/embedded/lockFolder.js'
import { thisMachine } from '../../src/stores/postgres/embedded/machine.js'
import { listTemporaryFolders, makeTemporaryFolder } from '../support/temporaryFolder.js'

/** A temporary folder that is ours until it is removed, or until this process ends in any way. */
export interface OwnFolder {
  readonly path: string
  remove(): Promise<void>
}

/*
 * Not the prefix of the other tests' folders: those are swept away when no Postgres holds the lock within, as in
 * the moments of a restart here. The lock on the folder itself says that the suite lives.
 */
const prefix = 'quittance-chaos-'
const untilLockedMs = 60_000

const lock = (path: string) => lockFolder(path, thisMachine(), () => undefined)

/** Makes a folder, and removes those of suites that were killed. */
export const makeOwnFolder = async (): Promise<OwnFolder> => {
  await sweep()
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

const sweep = async (): Promise<void> => {
  for (const path of await listTemporaryFolders(prefix)) {
    try {
      // One that has just been made has no lock yet.
      if (Date.now() - (await stat(path)).ctimeMs < untilLockedMs) continue
      const held = await lock(path)
      if (held.isCertain) await rm(path, { recursive: true, force: true })
      held.release()
    } catch {
      // In use, or another sweep is at it.
    }
  }
}
