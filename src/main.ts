#!/usr/bin/env -S node --max-semi-space-size=32
// 32 MiB semi-space: objects of requests in flight are copied half as often by the scavenger.
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseEnv } from 'node:util'
import closeWithGrace from 'close-with-grace'
import { UsageError, usage } from './cli/admin/command.js'
import { CommandLineError, deployHelp, help, readCommandLine, readProgram } from './cli/commandLine.js'
import { createPaint, createScreen } from './cli/screen.js'
import { describeStartFailure, nameListenError } from './cli/startFailure.js'
import { describeStart } from './cli/startSummary.js'
import { type Config, ConfigError, readConfig } from './config.js'
import { systemClock } from './platform/clock.js'
import { createLogger } from './platform/logger.js'
import { scrubText } from './platform/scrub.js'
import { DeploymentError } from './platform/startError.js'
import { version } from './platform/version.js'
import { holdYoungGeneration, releaseYoungGeneration } from './platform/youngGeneration.js'
import type { Logger } from './ports/logger.js'
import { connectToSupervisor } from './workers/link.js'
import { supervisedVariable } from './workers/messages.js'

// It is added to the longest settle, so that accepted requests complete.
const drainMarginMs = 15_000

// As many as Linux allows by default. A client whose connection finds no place here tries again after a second.
const connectionBacklog = 4_096

// A handler in JavaScript would run the faulting instruction again, without end: these must end the process.
const faults = ['SIGILL', 'SIGTRAP', 'SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGSEGV'] as const

const program = readProgram(process.argv[1] ?? '', process.cwd())

const run = async (): Promise<void> => {
  const invocation = readCommandLine(process.argv.slice(2))
  switch (invocation.kind) {
    case 'help':
      return print(help(program))
    case 'adminHelp':
      return print(usage(program.admin))
    case 'deployHelp':
      return print(deployHelp(program))
    case 'version':
      return print(`quittance ${version}`)
    case 'deploy':
      return await deploy(invocation)
    case 'admin': {
      const namesInFile = loadEnvFile()
      const { runCommandLine } = await import('./cli/admin/createInstallation.js')
      const streams = { input: process.stdin, output: process.stdout, prompts: process.stderr }
      const installation = { environment: process.env, namesInFile }
      process.exitCode = await runCommandLine(invocation.args, installation, streams)
      return
    }
    case 'listen': {
      const { runListen } = await import('./cli/listen/runListen.js')
      process.exitCode = await runListen(invocation.args, program.listen)
      return
    }
    case 'serve':
      return await serve()
  }
}

const print = (text: string): void => void process.stdout.write(`${text}\n`)

/** The names that stand in the file. */
const loadEnvFile = (): readonly string[] => {
  if (!existsSync('.env')) return []
  process.loadEnvFile('.env')
  return Object.keys(parseEnv(readFileSync('.env', 'utf8')))
}

const loadConfig = (): Config => {
  const namesInFile = loadEnvFile()
  return readConfig(process.env, undefined, namesInFile)
}

const deploy = async (request: { readonly network: string; readonly isDryRun: boolean }): Promise<void> => {
  const [namespace] = request.network.split(':')
  const family = loadConfig().chains.find((chain) => chain.namespace === namespace)
  if (family?.deploy === undefined) {
    throw new DeploymentError(
      namespace === 'eip155'
        ? 'EVM_PRIVATE_KEY: is required to deploy'
        : `There are contracts for eip155 networks only, none for ${request.network}`,
    )
  }
  await family.deploy({ ...request, print })
}

/** A terminal gets a summary and readable lines; anything else one JSON object per line. */
const serve = async (): Promise<void> => {
  const hasColours = process.stdout.isTTY && process.stdout.hasColors()
  const screen = process.stdout.isTTY ? createScreen(process.stdout, hasColours) : null
  // When a terminal goes away, SIGHUP ends the service, and no error about a lost line is worth another line.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
  holdYoungGeneration()
  const openLog = (level: Config['logLevel']) =>
    createLogger({ level, ...(screen === null ? {} : { destination: screen }) })
  try {
    const config = loadConfig()
    const logger = openLog(config.logLevel)
    const isSupervised = process.env[supervisedVariable] !== undefined
    if (config.workers > 1 && !isSupervised) return await supervise(config, logger)
    const link = isSupervised ? await connectToSupervisor(systemClock) : null
    const describesStart = link === null || link.isFirst
    if (describesStart) screen?.show(`Starting quittance ${version} …\n`)
    screen?.hold()
    // Loaded lazily: the command line starts twice as fast without it.
    const { compose } = await import('./compose.js')
    const { app, listNetworks, announceEnd, close } = await compose(config, logger, link)
    const startedAt = performance.now()
    let isEnding = false
    const skipped = new AbortController()
    const ending = closeWithGrace(graceOf(config), async ({ err, signal = 'SIGTERM' }) => {
      isEnding = true
      skipped.abort()
      if (err === undefined) logger.info({ signal }, 'service.stopping')
      else logger.error({ error: err }, 'process.failed')
      await close()
      logger.info({ ranSeconds: Math.round((performance.now() - startedAt) / 1_000) }, 'service.stopped')
    })
    const requestEnd = onTermination(skipped, {
      announce: async (signal) => {
        const { shutdownDelayMs } = config.server
        if (shutdownDelayMs === 0) return
        logger.info({ delaySeconds: shutdownDelayMs / 1_000 }, 'service.draining')
        await announceEnd(signal)
      },
      isBegun: () => isEnding,
      end: () => ending.close(),
    })
    await app.ready()
    releaseYoungGeneration()
    const { host, port } = config.server
    const url = await app.listen({ host, port, backlog: connectionBacklog }).catch(async (error: unknown) => {
      await close()
      throw nameListenError(error, config.server)
    })
    const bound = Number(new URL(url).port)
    const worker = link === null ? {} : { worker: process.pid }
    logger.info({ version, host, port: bound, ...worker }, 'service.listening')
    const started = { version, port: bound, config, networks: listNetworks() }
    link?.reportReady()
    // Also what was asked during the start.
    link?.onStop(requestEnd)
    const summary = describesStart ? describeStart(started, createPaint(hasColours)) : ''
    screen?.show(summary, { covers: describesStart })
  } catch (error) {
    screen?.show('')
    openLog('error').error(describeStartFailure(error), 'start.failed')
    process.exit(1)
  }
}

interface Ending {
  announce(skipped: AbortSignal): Promise<void>
  isBegun(): boolean
  end(): void
}

/**
 * SIGTERM comes from a supervisor, whose load balancer sends requests until a check of it fails: the end is announced first.
 * A second signal of any kind skips that, and a further one ends the process at once. SIGINT announces nothing. Returns what
 * a supervisor of ours calls, which may do so beside a signal that all processes get.
 */
const onTermination = (
  skipped: AbortController,
  { announce, isBegun, end }: Ending,
): ((options: { readonly announces: boolean }) => void) => {
  let isAnnounced = false
  const begin = (): void => {
    isAnnounced = true
    void announce(skipped.signal).finally(() => {
      if (!isBegun()) end()
    })
  }
  process.on('SIGTERM', () => {
    if (isBegun()) process.exit(1)
    if (isAnnounced) skipped.abort()
    else begin()
  })
  return ({ announces }) => {
    if (!announces) skipped.abort()
    if (!isAnnounced && !isBegun()) begin()
  }
}

const graceOf = (config: Config, extraMs = 0) => ({
  delay: config.settleWaitMs + drainMarginMs + extraMs,
  logger: false as const,
  skip: [...faults, 'SIGTERM' as const],
})

// Its workers end first, then the database.
const supervisorMarginMs = 10_000

const supervise = async (config: Config, logger: Logger): Promise<void> => {
  const { superviseWorkers } = await import('./workers/supervise.js')
  const program = fileURLToPath(import.meta.url)
  const { env: environment } = process
  const supervisor = await superviseWorkers({ config, program, environment, logger, clock: systemClock })
  // The worker has said why it did not start.
  if (!supervisor.isStarted) process.exit(1)
  releaseYoungGeneration()
  const grace = graceOf(config, config.server.shutdownDelayMs + supervisorMarginMs)
  const ending = closeWithGrace(grace, async ({ err, signal }) => {
    if (err !== undefined) logger.error({ error: err }, 'process.failed')
    await supervisor.close({ announces: err === undefined && signal === undefined })
  })
  let signals = 0
  process.on('SIGTERM', () => {
    signals += 1
    if (signals === 1) ending.close()
    else if (signals === 2) supervisor.stopWorkers({ announces: false })
    else process.exit(1)
  })
}

run().catch((error: unknown) => {
  process.stderr.write(`${describeError(error)}\n`)
  process.exit(error instanceof UsageError || error instanceof CommandLineError ? 2 : 1)
})

const describeError = (error: unknown): string => {
  if (!(error instanceof Error)) return 'The command failed'
  const { message } = error
  if (error instanceof UsageError) return `${message}\n\n${usage(program.admin, error.tierNames)}`
  if (error instanceof CommandLineError) {
    return `${message}\n${program.help} shows what can be given. Settings are environment variables.`
  }
  // Library messages can contain URLs with keys; our own contain no values.
  return error instanceof ConfigError || error instanceof DeploymentError ? message : scrubText(message)
}
