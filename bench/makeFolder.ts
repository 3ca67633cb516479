import { rmSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { makeTemporaryFolder } from '../test/support/temporaryFolder.js'

export interface Folder {
  readonly path: string
  remove(): Promise<void>
}

/** On disk, so that commits have realistic cost. */
export const makeFolder = async (): Promise<Folder> => {
  const path = await makeTemporaryFolder('quittance-bench-', { onDisk: true })
  // For aborted runs; processes writing here are being killed as well.
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
