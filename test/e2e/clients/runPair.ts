import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import type { Pair } from './matrix.js'
import { type Chains, createParty } from './scene.js'

const program = fileURLToPath(new URL('programs/pair.mjs', import.meta.url))
const deadlineMs = 90_000
const price = 10_000n

const purchase = z.object({
  status: z.number().optional(),
  body: z.string().optional(),
  receipt: z.looseObject({ success: z.boolean(), transaction: z.string() }).nullish(),
  error: z.string().optional(),
})

/** Their responses have neither receipt header. */
const serversWithoutReceipt: ReadonlySet<Pair['server']> = new Set(['openfacilitator-express'])

/** Runs the pair in a process of its own: `pays`, or what went wrong for each family. */
export const runPair = async (pair: Pair, chains: Chains, facilitatorUrl: string): Promise<string> => {
  const parties = await Promise.all(
    pair.families.map(async (family) => ({ family, ...(await createParty(family, chains)) })),
  )
  const families = Object.fromEntries(parties.map(({ family, terms }) => [family, terms]))
  const { client, server, version } = pair
  const { stdout, stderr } = await runProgram({ client, server, version, families, facilitatorUrl })
  const line = stdout.trim().split('\n').at(-1) ?? ''
  if (!line.startsWith('{')) return `the program ended early: ${stderr.slice(-2_000)}`
  const purchases = z.record(z.string(), purchase).parse(JSON.parse(line))
  const problems = await Promise.all(
    parties.map(async ({ family, countReceived }) => {
      const problem = findProblem(
        purchases[family],
        await countReceived(),
        !serversWithoutReceipt.has(server),
      )
      return problem === null ? [] : [`${family}: ${problem}`]
    }),
  )
  return problems.flat().join('\n') || 'pays'
}

const findProblem = (
  bought: z.infer<typeof purchase> | undefined,
  received: bigint,
  hasReceipt: boolean,
): string | null => {
  const { status, body = '', receipt, error } = bought ?? { error: 'no purchase' }
  if (error !== undefined) return error
  if (status !== 200 || !body.includes('micropayments')) return `${status} ${body}`
  if (received !== price) return `the payee received ${received} instead of ${price}`
  if (!hasReceipt) return null
  if (receipt === undefined || receipt === null) return 'the response has no receipt'
  return receipt.success && receipt.transaction !== '' ? null : `receipt ${JSON.stringify(receipt)}`
}

const runProgram = async (scene: object): Promise<{ readonly stdout: string; readonly stderr: string }> => {
  const child = spawn(process.execPath, [program], {
    // Without the variables of the test runner: programs have the environment of a production server.
    env: { PATH: process.env.PATH, HOME: process.env.HOME, NODE_ENV: 'production' },
    timeout: deadlineMs,
    killSignal: 'SIGKILL',
  })
  child.stdin.end(JSON.stringify(scene))
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { stdout, stderr }
}
