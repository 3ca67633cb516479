import { rm } from 'node:fs/promises'
import { type FacilitatorProcess, startFacilitator } from '../support/facilitator.js'
import { makeTemporaryFolder } from '../support/temporaryFolder.js'
import { createDemoEnvironment } from './environment.js'

interface DemoFacilitatorOptions {
  readonly port: number
  /** Of the networks. */
  readonly environment: Readonly<Record<string, string>>
  readonly onLogLine: (line: string) => void
  readonly onClose: (close: () => Promise<unknown>) => void
}

/** A slow machine may need minutes to create the database. */
const startLimitMs = 600_000

/** The service as operators start it, with an embedded database that is removed at the end. */
export const startDemoFacilitator = async ({
  port,
  environment,
  onLogLine,
  onClose,
}: DemoFacilitatorOptions): Promise<FacilitatorProcess> => {
  const dataFolder = await makeTemporaryFolder('demo-', { onDisk: true })
  onClose(() => rm(dataFolder, { recursive: true, force: true }))
  const facilitator = await startFacilitator(
    {
      ...createDemoEnvironment(process.env),
      PORT: String(port),
      HOST: '127.0.0.1',
      DATA_FOLDER: dataFolder,
      ...environment,
    },
    onLogLine,
    { startLimitMs },
  )
  onClose(facilitator.stop)
  return facilitator
}
