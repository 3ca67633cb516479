/*
 * `npm start`, and `npm run` with `admin`, `deploy` and `listen`: builds dist, and for `npm start` the console, where they do
 * not match the sources, then runs dist in this process, so that signals reach it.
 */
import { build } from './build.mjs'
import { buildWeb } from './buildWeb.mjs'
import { hasDist, isBuilt } from './fingerprint.mjs'

/** From source, without a build; false where tsx is not installed. */
const runFromSource = async () => {
  const tsx = await import('tsx/esm/api').catch(() => null)
  if (tsx === null) return false
  await tsx.tsImport('../src/main.ts', import.meta.url)
  return true
}

const [command, ...rest] = process.argv.slice(2)
// The help, the version, and what is refused need no current build, nor any where tsx is installed.
const isFlag = command !== undefined && !['start', 'admin', 'check', 'deploy', 'listen'].includes(command)
const asksOnly = isFlag || rest.some((word) => word === '--help' || word === '-h')

// Payments need no console.
const warn = (error) => process.stderr.write(`The console is not served: ${error.message}\n`)
// Other commands serve no console.
const servesPages = command === undefined || command === 'start'

const runBuilt = async () => {
  try {
    if (!(asksOnly ? hasDist() : isBuilt())) {
      const reason = hasDist()
        ? 'Building, because the sources changed: this takes about a minute …'
        : 'The first start compiles the service once, which takes about a minute …'
      process.stderr.write(`${reason}\n`)
      await build()
    }
  } catch (error) {
    process.stderr.write(`${error.message}\n`)
    process.exit(1)
  }
  if (!asksOnly && servesPages) await buildWeb().catch(warn)
  await import('../dist/main.js')
}

const isDone = asksOnly && !hasDist() && (await runFromSource())
if (!isDone) await runBuilt()
