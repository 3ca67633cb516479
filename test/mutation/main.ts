import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { cp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { showHelp } from '../support/showHelp.js'
import { spawnChild } from '../support/spawnChild.js'
import { makeTemporaryFolder } from '../support/temporaryFolder.js'
import { removeGuard } from './guard.js'
import { guardsByPart } from './index.js'
import type { RunRequest } from './testRunner.js'

const usage = `Usage: npm run mutation [-- part …]

Removes one guard at a time from a copy of the project and runs the tests that should notice it. Fails if a removal
stays unnoticed. Without parts: all.

Parts: ${Object.keys(guardsByPart).join(', ')}`
showHelp(usage)

const root = fileURLToPath(new URL('../../', import.meta.url))
const copied = [
  'src',
  'web',
  'test',
  'migrations',
  'openapi',
  'scripts',
  'sdk',
  'contracts',
  'deploy',
  'bench',
  'docs',
]
const copiedFiles = ['package.json', 'package-lock.json', 'tsconfig.json', 'vitest.config.ts', 'README.md']
const leastDeadlineMs = 180_000
const deadlineOfFileMs = 60_000

const parts = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(guardsByPart)
const unknown = parts.filter((part) => guardsByPart[part] === undefined)
if (unknown.length > 0) {
  console.error(`Unknown: ${unknown.join(', ')}. Known: ${Object.keys(guardsByPart).join(', ')}`)
  process.exit(2)
}

const folder = await makeTemporaryFolder('mutation-', { onDisk: true })
/** It serves one run after the other; null: none has started, or the last run was ended. */
let runner: ChildProcess | null = null

const startRunner = async (): Promise<ChildProcess> => {
  const started = spawnChild([process.execPath, '--import', 'tsx', 'test/mutation/testRunner.ts'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  started.once('exit', failOnExit)
  await once(started, 'message')
  return started
}

// A wait for a process that is gone would end this one without a word.
const failOnExit = (): never => {
  throw new Error('The process that runs the tests ended by itself')
}

/** Ends it together with what it started. */
const stopRunner = async (): Promise<void> => {
  if (runner === null) return
  const exited = once(runner.off('exit', failOnExit), 'exit')
  runner.disconnect()
  await exited
}

type Outcome = 'passed' | 'failed' | 'endless'

/** Runs these files after a change of one source. */
const runTests = async (tests: readonly string[], changed: string | null = null): Promise<Outcome> => {
  runner ??= await startRunner()
  const deadline = AbortSignal.timeout(Math.max(leastDeadlineMs, deadlineOfFileMs * tests.length))
  try {
    runner.send({ changed, tests } satisfies RunRequest)
    const [passed] = await once(runner, 'message', { signal: deadline })
    return passed === true ? 'passed' : 'failed'
  } catch (error) {
    if (!deadline.aborted) throw error
    runner.off('exit', failOnExit).kill('SIGKILL')
    runner = null
    return 'endless'
  }
}

const verdicts = { passed: 'UNNOTICED ', failed: 'noticed   ', endless: 'no end    ' } as const
const counts = { passed: 0, failed: 0, endless: 0 }
try {
  for (const name of [...copied, ...copiedFiles]) {
    await cp(join(root, name), join(folder, name), {
      recursive: true,
      filter: (path) => basename(path) !== 'node_modules',
    })
  }
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))

  for (const part of parts) {
    const guards = guardsByPart[part] ?? []
    const tests = [...new Set(guards.flatMap((guard) => guard.tests))]
    if ((await runTests(tests)) !== 'passed')
      throw new Error(`The tests of ${part} fail with all guards in place`)
    for (const guard of guards) {
      const file = join(folder, guard.file)
      const original = await readFile(file, 'utf8')
      await writeFile(file, removeGuard(guard, original))
      const outcome = await runTests(guard.tests, guard.file)
      await writeFile(file, original)
      console.log(`${verdicts[outcome]} ${part.padEnd(12)} ${guard.name}`)
      counts[outcome] += 1
    }
  }
} finally {
  await stopRunner()
  await rm(folder, { recursive: true, force: true })
}
console.log(
  `\n${counts.failed} removals noticed, ${counts.endless} without an end, ${counts.passed} unnoticed`,
)
process.exit(counts.passed === 0 ? 0 : 1)
