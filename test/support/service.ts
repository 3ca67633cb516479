import { compose } from '../../src/compose.js'
import { readConfig } from '../../src/config.js'
import { type CoreOptions, environmentFor } from './core.js'

export interface TestService {
  readonly url: string
  close(): Promise<void>
}

export const startService = async (
  options: Pick<CoreOptions, 'chain' | 'databaseUrl' | 'environment'>,
): Promise<TestService> => {
  const service = await compose(readConfig({ LOG_LEVEL: 'silent', ...environmentFor(options) }))
  const url = await service.app.listen({ host: '127.0.0.1', port: 0 })
  return { url, close: service.close }
}
