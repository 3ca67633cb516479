import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { boundCommand } from '../../support/spawnChild.js'

const folder = fileURLToPath(new URL('.', import.meta.url))
/** Names the lock file from which `node_modules` was installed. */
const stamp = `${folder}node_modules/.installed-lock`
const deadlineMs = 600_000

/**
 * Installs the published packages unless they are installed as locked. Without a registry: false with a message on
 * stderr, or an error with `REQUIRE_CLIENTS=1`.
 */
export const installClients = async (): Promise<boolean> => {
  const lock = hashLock()
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return true
  try {
    const flags = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
    const [file, ...args] = boundCommand(['npm', ...flags], 'TERM')
    await promisify(execFile)(file, args, { cwd: folder, timeout: deadlineMs, killSignal: 'SIGKILL' })
    writeFileSync(stamp, lock)
    return true
  } catch (error) {
    const problem = `npm ci in test/e2e/clients failed (${readReason(error)})`
    if (process.env.REQUIRE_CLIENTS === '1') {
      throw new Error(`REQUIRE_CLIENTS=1, but ${problem}`, { cause: error })
    }
    process.stderr.write(`\n*** suite of published clients SKIPPED: ${problem} ***\n\n`)
    return false
  }
}

const hashLock = (): string =>
  createHash('sha256')
    .update(readFileSync(`${folder}package-lock.json`))
    .digest('hex')

/** The first line of npm that says more than a code. */
const readReason = (error: unknown): string => {
  const lines = String(error).split('\n')
  return (
    lines.find((line) => /^npm error (?!code |errno )\S/.test(line))?.slice(0, 200) ?? 'no answer in time'
  )
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await installClients()
