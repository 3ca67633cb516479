import { existsSync } from 'node:fs'
import closeWithGrace from 'close-with-grace'
import { UsageError } from './admin/command.js'
import { createTerminal, runAdmin } from './admin/runAdmin.js'
import { ConfigError, readConfig } from './config.js'
import { silentLogger } from './platform/logger.js'
import { openSealers } from './platform/openSealers.js'
import { scrubText } from './platform/scrub.js'
import { openAccounts } from './stores/openAccounts.js'

// Longer than any settle, so that accepted requests complete.
const drainMs = 40_000

const start = async (): Promise<void> => {
  if (existsSync('.env')) process.loadEnvFile('.env')
  const config = readConfig(process.env)
  const [first, ...args] = process.argv.slice(2)
  if (first === 'admin') {
    const terminal = createTerminal({
      input: process.stdin,
      output: process.stdout,
      prompts: process.stderr,
    })
    const sealing = {
      ...config.accounts,
      dataFolder: config.stores.dataFolder,
      isDatabaseShared: config.stores.databaseUrl !== null,
    }
    await runAdmin(args, terminal, () =>
      openAccounts(config.stores, () => openSealers(sealing, silentLogger)),
    )
    return
  }
  // Loaded lazily: the command line starts twice as fast without it.
  const { compose } = await import('./compose.js')
  const { app, close } = await compose(config)
  closeWithGrace({ delay: drainMs, logger: false }, async ({ err }) => {
    if (err !== undefined) app.log.error({ error: err }, 'process.failed')
    await close()
  })
  await app.listen({ host: config.server.host, port: config.server.port })
}

start().catch((error: unknown) => {
  const message = error instanceof Error ? error.message : 'The service failed to start'
  // Library messages can contain URLs with keys; our own contain no values.
  const isOurs = error instanceof ConfigError || error instanceof UsageError
  process.stderr.write(`${isOurs ? message : scrubText(message)}\n`)
  process.exit(1)
})
