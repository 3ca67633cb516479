import childProcess from 'node:child_process'
import { syncBuiltinESMExports } from 'node:module'

/*
 * Setup of the fast tests: a file that came to be one of them, and starts a process all the same, fails at once
 * and says why.
 */

const refuse = (): never => {
  throw new Error('A fast test starts no process: see slowModules in test/support/divideTests.ts')
}

for (const name of ['spawn', 'spawnSync', 'fork', 'exec', 'execSync', 'execFile', 'execFileSync'] as const) {
  Object.defineProperty(childProcess, name, { value: refuse })
}
syncBuiltinESMExports()
