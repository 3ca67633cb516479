import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type FacilitatorProcess, startFacilitator } from '../support/facilitator.js'
import { createDemoEnvironment } from './environment.js'

interface DemoFacilitatorOptions {
  readonly port: number
  /** Of the networks. */
  readonly environment: Readonly<Record<string, string>>
  readonly onLogLine: (line: string) => void
  readonly onClose: (close: () => Promise<unknown>) => void
}

/** The service as operators start it, with an embedded database that is removed at the end. */
export const startDemoFacilitator = async ({
  port,
  environment,
  onLogLine,
  onClose,
}: DemoFacilitatorOptions): Promise<FacilitatorProcess> => {
  const dataFolder = await mkdtemp(join(tmpdir(), 'quittance-demo-'))
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
  )
  onClose(facilitator.stop)
  return facilitator
}
