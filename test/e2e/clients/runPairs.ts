import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { spawnChild } from '../../support/spawnChild.js'
import type { Pair } from './matrix.js'
import { type Chains, createParty, type Family, type Party } from './scene.js'

const program = fileURLToPath(new URL('programs/pair.mjs', import.meta.url))
const deadlineMs = 300_000
const price = 10_000n

const purchase = z.object({
  status: z.number().optional(),
  body: z.string().optional(),
  receipt: z.looseObject({ success: z.boolean(), transaction: z.string() }).nullish(),
  error: z.string().optional(),
})

/** Their responses have neither receipt header. */
const serversWithoutReceipt: ReadonlySet<Pair['server']> = new Set(['openfacilitator-express'])

/** Runs pairs one after the other in a process of their own. Of each: `pays`, or what went wrong for each family. */
export const runPairs = async (
  pairs: readonly Pair[],
  chains: Chains,
  facilitatorUrl: string,
): Promise<readonly string[]> => {
  const prepared = await Promise.all(
    pairs.map(async (pair) => ({
      pair,
      parties: await Promise.all(
        pair.families.map(async (family) => ({ family, ...(await createParty(family, chains)) })),
      ),
    })),
  )
  const scenes = prepared.map(({ pair: { client, server, version }, parties }) => {
    const families = Object.fromEntries(parties.map(({ family, terms }) => [family, terms]))
    return { client, server, version, families, facilitatorUrl }
  })
  const { stdout, stderr } = await runProgram(scenes)
  const line = stdout.trim().split('\n').at(-1) ?? ''
  if (!line.startsWith('[')) return pairs.map(() => `the program ended early: ${stderr.slice(-2_000)}`)
  const bought = z.array(z.record(z.string(), purchase)).parse(JSON.parse(line))
  return await Promise.all(
    prepared.map(async ({ pair, parties }, index) => await judge(pair, parties, bought[index] ?? {})),
  )
}

const judge = async (
  { server }: Pair,
  parties: readonly (Party & { readonly family: Family })[],
  purchases: Readonly<Record<string, z.infer<typeof purchase>>>,
): Promise<string> => {
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

const runProgram = async (
  scenes: readonly object[],
): Promise<{ readonly stdout: string; readonly stderr: string }> => {
  const child = spawnChild([process.execPath, program], {
    // Without the variables of the test runner: programs have the environment of a production server.
    env: { PATH: process.env.PATH, HOME: process.env.HOME, NODE_ENV: 'production' },
    timeout: deadlineMs,
    killSignal: 'SIGKILL',
  })
  child.stdin.end(JSON.stringify(scenes))
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { stdout, stderr }
}
