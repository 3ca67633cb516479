import { join } from 'node:path'
import { reservePort } from '../test/support/reservePort.js'
import { type Contender, launch, root } from './launch.js'
import { makeFolder } from './makeFolder.js'

export interface LimitedOptions {
  readonly name: string
  readonly environment: Readonly<Record<string, string>>
}

export const startLimited = async ({ name, environment }: LimitedOptions): Promise<Contender> => {
  const port = await reservePort()
  const folder = await makeFolder()
  const contender = await launch({
    name,
    port,
    args: ['--max-semi-space-size=32', join(root, 'dist/main.js')],
    readyPath: '/health',
    environment: {
      PORT: String(port),
      HOST: '127.0.0.1',
      LOG_LEVEL: 'error',
      DATA_FOLDER: folder.path,
      ANONYMOUS_REQUESTS_PER_MINUTE: '1000000000',
      ANONYMOUS_SETTLES_PER_MINUTE: '1000000000',
      ...environment,
    },
  })
  return {
    ...contender,
    stop: async () => {
      await contender.stop()
      await folder.remove()
    },
  }
}
