import { readFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { basename, dirname, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readArguments } from '../support/readArguments.js'

const usage = `Usage: npm run trace -- <request> [--list]

Counts the files of src/ of which one payment's request enters at least one function, and the lines of these files.

  settle     POST /settle of \`exact\` on an EVM network
  verify     POST /verify of the same payment
  near       POST /settle of \`exact-direct\` on NEAR

  --list     also names the files, by folder`

const requests = {
  settle: { family: 'evm', path: '/settle' },
  verify: { family: 'evm', path: '/verify' },
  near: { family: 'near', path: '/settle' },
} as const

// What only some of them enter is a timer of the chain's monitor, or what only a first request does.
const samples = 4
const sources = new URL('../../src/', import.meta.url)

const { values, positionals } = readArguments({
  usage,
  options: { list: { type: 'boolean', default: false } },
  allowPositionals: true,
})

const isRequest = (name: string | undefined): name is keyof typeof requests =>
  name !== undefined && name in requests

/** Files of `src/` whose functions V8 counted since the last call; the code that runs at loading is no function here. */
const takeEntered = async (session: Session): Promise<Set<string>> => {
  const { result } = await session.post('Profiler.takePreciseCoverage')
  const own = result.filter(({ url }) => url.startsWith(sources.href))
  const entered = own.filter(({ functions }) => {
    const end = Math.max(...functions.flatMap(({ ranges }) => ranges.map(({ endOffset }) => endOffset)))
    return functions.some(({ ranges: [range] }) => {
      if (range === undefined || range.count === 0) return false
      return range.startOffset > 0 || range.endOffset < end
    })
  })
  return new Set(entered.map(({ url }) => fileURLToPath(url.replace(/\?.*$/, ''))))
}

const countLines = (file: string): number => readFileSync(file, 'utf8').trimEnd().split('\n').length

const post = async (url: string, body: unknown): Promise<void> => {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  const answer = await response.text()
  if (!/"(success|isValid)":true/.test(answer))
    throw new Error(`${url} answered ${response.status}: ${answer}`)
}

/** As `compose` builds it, without its jobs, whose rounds would be counted. */
const openService = async (environment: Readonly<Record<string, string>>) => {
  const [{ composeApp, composeCore }, { readConfig }, { systemClock }, { silentLogger }] = await Promise.all([
    import('../../src/compose.js'),
    import('../../src/config.js'),
    import('../../src/platform/clock.js'),
    import('../../src/platform/logger.js'),
  ])
  const config = readConfig({ LOG_LEVEL: 'silent', ...environment })
  const core = await composeCore(config, {
    clock: systemClock,
    logger: silentLogger,
    measuresProcess: false,
  })
  const app = await composeApp(config, core, silentLogger)
  return {
    app,
    close: async () => {
      await app.close()
      await core.close()
    },
  }
}

const trace = async ({ family, path }: (typeof requests)[keyof typeof requests]): Promise<string[]> => {
  // Loaded here, so that --help need not.
  const { worlds } = await import('../demo/worlds/index.js')
  const { startDatabase } = await import('../../bench/startDatabase.js')
  const world = await worlds[family]?.()
  if (world === undefined) throw new Error(`There is no world of ${family}`)
  const database = await startDatabase()
  const service = await openService({ ...world.environment, DATABASE_URL: database.url })
  const session = new Session()
  try {
    const url = await service.app.listen({ host: '127.0.0.1', port: 0 })
    session.connect()
    await session.post('Profiler.enable')
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
    const entered: Set<string>[] = []
    for (let sample = 0; sample < samples; sample += 1) {
      const body = await world.signPayment()
      await session.post('Profiler.takePreciseCoverage')
      await post(`${url}${path}`, body)
      entered.push(await takeEntered(session))
    }
    const [first = new Set<string>(), ...others] = entered
    return [...first].filter((file) => others.every((each) => each.has(file))).sort()
  } finally {
    session.disconnect()
    await service.close()
    await database.stop()
    await world.close()
  }
}

const [name] = positionals
if (!isRequest(name)) throw new Error(`Name a request: ${Object.keys(requests).join(', ')}`)
const files = (await trace(requests[name])).map((file) => ({
  path: relative(fileURLToPath(sources), file),
  lines: countLines(file),
}))
const lines = files.reduce((sum, file) => sum + file.lines, 0)
process.stdout.write(`${name}: ${files.length} files, ${lines} lines\n`)
if (values.list) {
  for (const folder of new Set(files.map(({ path }) => dirname(path)))) {
    const inside = files.filter(({ path }) => dirname(path) === folder)
    process.stdout.write(`${folder}/ (${inside.length})\n`)
    for (const file of inside) process.stdout.write(`  ${basename(file.path)} ${file.lines}\n`)
  }
}
process.exit(0)
