import { existsSync } from 'node:fs'
import closeWithGrace from 'close-with-grace'
import { compose } from './compose.js'
import { ConfigError, readConfig } from './config.js'
import { scrubText } from './platform/scrub.js'

// Longer than any settle: what has been accepted is answered.
const drainMs = 40_000

const start = async (): Promise<void> => {
  // Variables that are set already win over the file.
  if (existsSync('.env')) process.loadEnvFile('.env')
  const config = readConfig(process.env)
  const { app, close } = await compose(config)
  closeWithGrace({ delay: drainMs, logger: false }, async ({ err }) => {
    if (err !== undefined) app.log.error({ error: err }, 'process.failed')
    await close()
  })
  await app.listen({ host: config.server.host, port: config.server.port })
}

start().catch((error: unknown) => {
  const message = error instanceof Error ? error.message : 'The service could not start'
  // A library's words may hold a URL with its key; our own list of bad variables holds no value.
  process.stderr.write(`${error instanceof ConfigError ? message : scrubText(message)}\n`)
  process.exit(1)
})
