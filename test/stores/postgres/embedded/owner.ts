import { type Machine, thisMachine } from '../../../../src/stores/postgres/embedded/machine.js'
import { startEmbeddedPostgres } from '../../../../src/stores/postgres/embedded/startEmbeddedPostgres.js'

// Separate process: runs a database until its input closes or it is killed.
const [folder = '', overrides = '{}'] = process.argv.slice(2)
// Ctrl-C reaches the whole process group; the real service then shuts down gracefully.
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
