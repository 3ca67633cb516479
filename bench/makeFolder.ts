import { rm } from 'node:fs/promises'
import { makeTemporaryFolder } from '../test/support/temporaryFolder.js'

export interface Folder {
  readonly path: string
  remove(): Promise<void>
}

/** On disk, so that commits have realistic cost. */
export const makeFolder = async (): Promise<Folder> => {
  const path = await makeTemporaryFolder('quittance-bench-', { onDisk: true })
  return {
    path,
    remove: () => rm(path, { recursive: true, force: true }),
  }
}
