import { cp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { showHelp } from '../support/showHelp.js'
import { spawnChild } from '../support/spawnChild.js'
import { makeTemporaryFolder } from '../support/temporaryFolder.js'
import { removeGuard } from './guard.js'
import { guardsByPart } from './index.js'

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
const passes = async (tests: readonly string[]): Promise<boolean> =>
  new Promise((resolve) => {
    const vitest = join(root, 'node_modules/vitest/vitest.mjs')
    const child = spawnChild([process.execPath, vitest, 'run', '--bail=1', ...tests], {
      cwd: folder,
      stdio: 'ignore',
      timeout: Math.max(leastDeadlineMs, deadlineOfFileMs * tests.length),
    })
    child.once('exit', (code) => resolve(code === 0))
  })

const unnoticed: string[] = []
let noticed = 0
try {
  for (const name of [...copied, ...copiedFiles]) {
    await cp(join(root, name), join(folder, name), { recursive: true })
  }
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))

  for (const part of parts) {
    const guards = guardsByPart[part] ?? []
    const tests = [...new Set(guards.flatMap((guard) => guard.tests))]
    if (!(await passes(tests))) throw new Error(`The tests of ${part} fail with all guards in place`)
    for (const guard of guards) {
      const file = join(folder, guard.file)
      const original = await readFile(file, 'utf8')
      await writeFile(file, removeGuard(guard, original))
      const isNoticed = !(await passes(guard.tests))
      await writeFile(file, original)
      console.log(`${isNoticed ? 'noticed   ' : 'UNNOTICED '} ${part.padEnd(12)} ${guard.name}`)
      if (isNoticed) noticed += 1
      else unnoticed.push(`${part}: ${guard.name}`)
    }
  }
} finally {
  await rm(folder, { recursive: true, force: true })
}
console.log(`\n${noticed} removals noticed, ${unnoticed.length} unnoticed`)
process.exit(unnoticed.length === 0 ? 0 : 1)
