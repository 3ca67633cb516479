import { type Machine, thisMachine } from '../../../../src/stores/postgres/embedded/machine.js'
import { startEmbeddedPostgres } from '../../../../src/stores/postgres/embedded/startEmbeddedPostgres.js'

// Run as a process of its own: owns a database until its input ends, or until it is killed.
const [folder = '', overrides = '{}'] = process.argv.slice(2)
// A terminal's Ctrl-C reaches every process of its group; a real service drains on it.
process.on('SIGINT', () => undefined)
process.stdin.on('end', () => void postgres.stop()).resume()

const changes: Partial<Machine> = JSON.parse(overrides)
const lines: string[] = []
const postgres = await startEmbeddedPostgres(
  { folder, initdbArgs: ['--no-sync'], log: (line) => void lines.push(line) },
  { ...thisMachine(), ...changes },
).catch((error: unknown) => {
  process.stdout.write(`${JSON.stringify({ refusal: String(error) })}\n`)
  return process.exit(1)
})
process.stdout.write(`${JSON.stringify({ url: postgres.url })}\n`)
