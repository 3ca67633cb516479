import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { readArguments } from '../support/readArguments.js'
import { spawnChild } from '../support/spawnChild.js'
import { makeTemporaryFolder } from '../support/temporaryFolder.js'
import { countFailures, type Outcome } from './countFailures.js'
import { stallProcesses } from './stallProcesses.js'

const usage = `Usage: npm run test:stress [-- option] [file or folder …]

Runs tests again and again beside busy loops, and says which of them failed how often. Without files: the project
integration.

  --times <count>      how often (default 20)
  --busy <count>       busy loops (default 4)
  --together <count>   runs at a time (default 1)
  --stall <ms>         stops one process of a run after the other, for up to so long (default 0: none; Linux only)
  --shard <i/n>        one part of the files, as of vitest
  -h, --help           shows this text`

const root = fileURLToPath(new URL('../../', import.meta.url))
const vitest = join(root, 'node_modules/vitest/vitest.mjs')
const { values, positionals: files } = readArguments({
  usage,
  allowPositionals: true,
  options: {
    times: { type: 'string', default: '20' },
    busy: { type: 'string', default: '4' },
    together: { type: 'string', default: '1' },
    stall: { type: 'string', default: '0' },
    shard: { type: 'string' },
  },
})

const readCount = (name: 'times' | 'busy' | 'together' | 'stall'): number => {
  const count = Number(values[name])
  if (!Number.isSafeInteger(count) || count < 0) throw new Error(`--${name} must be a whole number`)
  return count
}

const stallMs = readCount('stall')

// It looks for its parent itself, because not every system ends it with its parent.
const busyLoop =
  'for (const parent = process.ppid; process.ppid === parent; ) for (let i = 0; i < 1e8; i += 1);'

interface Died {
  readonly run: number
  readonly how: string
}

const runs: (readonly Outcome[])[] = []
const died: Died[] = []
const stopped = new AbortController()

const runTests = async (run: number, folder: string): Promise<readonly Outcome[]> => {
  const report = join(folder, `${run}.json`)
  // Files may be of either project; without files there would be far more fast ones than others.
  const projects = files.length === 0 ? ['integration'] : ['integration', 'fast']
  const child = spawnChild(
    [
      ...[process.execPath, vitest, 'run', '--reporter=./test/stress/outcomes.ts'],
      ...projects.flatMap((name) => ['--project', name]),
      ...(values.shard === undefined ? [] : ['--shard', values.shard]),
      ...files,
    ],
    { cwd: root, env: { ...process.env, OUTCOMES_FILE: report }, stdio: ['ignore', 'pipe', 'pipe'] },
  )
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-20_000)
    })
  }
  const end = () => void child.kill('SIGTERM')
  stopped.signal.addEventListener('abort', end)
  const closed = new AbortController()
  const stalls =
    stallMs > 0 && child.pid !== undefined ? stallProcesses(child.pid, stallMs, closed.signal) : null
  const [code, signal] = await once(child, 'close')
  closed.abort()
  await stalls
  stopped.signal.removeEventListener('abort', end)
  const lines = await readFile(report, 'utf8').catch(() => null)
  const outcomes: readonly Outcome[] = (lines ?? '')
    .split('\n')
    .flatMap((line) => (line === '' ? [] : JSON.parse(line)))
  if (outcomes.length > 0) runs.push(outcomes)
  if (stopped.signal.aborted) return outcomes
  const lastLines = stripVTControlCharacters(output).trim().split('\n').slice(-15).join('\n')
  if (lines === null) {
    died.push({ run, how: `ended with ${code ?? signal} and no report:\n${lastLines}` })
    return []
  }
  const hasFailure = outcomes.some(({ failure }) => failure !== null)
  if (outcomes.length === 0) died.push({ run, how: `ran no test:\n${lastLines}` })
  // Such as an error that no test caught.
  else if (code !== 0 && !hasFailure) died.push({ run, how: `failed beside its tests:\n${lastLines}` })
  return outcomes
}

const indent = (text: string, lines: number): string =>
  stripVTControlCharacters(text)
    .split('\n')
    .slice(0, lines)
    .map((line) => `        ${line}`)
    .join('\n')

/** Returns whether nothing failed. */
const printTable = (times: number): boolean => {
  const failed = countFailures(runs)
  const tests = new Set(runs.flat().map(({ test }) => test)).size
  console.log(
    `\n${tests} tests in ${runs.length} of ${times} runs, ${values.together} at a time, beside ${values.busy} busy loops, with stalls of up to ${stallMs} ms`,
  )
  for (const { test, failed: count, runs: ran, firstFailure } of failed) {
    console.log(`  ${`${count}/${ran}`.padStart(5)} ${test}\n${indent(firstFailure, 6)}`)
  }
  for (const { run, how } of died) console.log(`  run ${run} ${indent(how, 16).trimStart()}`)
  const isClean = failed.length === 0 && died.length === 0
  if (isClean) console.log('  nothing failed')
  return isClean
}

const stress = async (): Promise<void> => {
  const [times, busy] = [readCount('times'), readCount('busy')]
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stopped.abort())
  const folder = await makeTemporaryFolder('stress-')
  // Linux divides processors among sessions (autogroups) first. In the session of the run, all loops together would
  // have the share of one, and servers and browsers, which have sessions of their own, would hardly notice them.
  const loops = Array.from({ length: busy }, () =>
    spawnChild([process.execPath, '-e', busyLoop], { stdio: 'ignore', detached: true }),
  )
  let last = 0
  const runInTurn = async (): Promise<void> => {
    while (last < times && !stopped.signal.aborted) {
      last += 1
      const run = last
      const startedAt = Date.now()
      const outcomes = await runTests(run, folder)
      const seconds = Math.round((Date.now() - startedAt) / 1_000)
      const failed = countFailures([outcomes])
      const how = died.some((each) => each.run === run) ? 'died' : 'ended'
      const result = `${stopped.signal.aborted ? 'stopped' : how}, ${failed.length} failed`
      console.log(`run ${run} of ${times}: ${result}, ${seconds} s`)
      for (const { test, firstFailure } of failed) console.log(`  ${test}\n${indent(firstFailure, 3)}`)
    }
  }
  await Promise.all(Array.from({ length: Math.max(1, readCount('together')) }, runInTurn))
  for (const loop of loops) loop.kill('SIGKILL')
  const isClean = printTable(times)
  process.exit(isClean && !stopped.signal.aborted ? 0 : 1)
}

await stress()
