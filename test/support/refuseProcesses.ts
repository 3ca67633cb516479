import childProcess from 'node:child_process'
import { syncBuiltinESMExports } from 'node:module'

/* Setup of the fast tests: a fast test that starts a process fails with an explanation. */

const refuse = (): never => {
  throw new Error('A fast test must not start a process: see slowModules in test/support/divideTests.ts')
}

for (const name of ['spawn', 'spawnSync', 'fork', 'exec', 'execSync', 'execFile', 'execFileSync'] as const) {
  Object.defineProperty(childProcess, name, { value: refuse })
}
syncBuiltinESMExports()
