import { rmSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { makeTemporaryFolder } from '../test/support/temporaryFolder.js'

/** An empty folder that is gone after the run. */
export interface Folder {
  readonly path: string
  remove(): Promise<void>
}

/** Makes an empty folder, on disk, so that a commit costs what it costs. */
export const makeFolder = async (): Promise<Folder> => {
  const path = await makeTemporaryFolder('quittance-bench-', { onDisk: true })
  // For a run that is broken off: whatever writes here is being killed at the same moment.
  const removeNow = (): void => rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
  process.once('exit', removeNow)
  return {
    path,
    remove: async () => {
      await rm(path, { recursive: true, force: true })
      process.off('exit', removeNow)
    },
  }
}
