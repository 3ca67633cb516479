import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { pollWithin } from '../../support/pollUntil.js'
import { spawnChild } from '../../support/spawnChild.js'
import type { Pair } from './matrix.js'
import { type Chains, createParty, type Family, type Party } from './scene.js'

const program = fileURLToPath(new URL('programs/pair.mjs', import.meta.url))
/** Applies to one pair, and to the start: a busy machine takes longer for all of them. */
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

interface PairsToRun {
  readonly pairs: readonly Pair[]
  readonly chains: Chains
  readonly facilitatorUrl: string
  /** In order, as soon as it is known: `pays`, or what went wrong for each family. */
  readonly onOutcome: (pair: Pair, outcome: string) => void
}

/** Runs pairs one after the other in a process of their own. */
export const runPairs = async ({ pairs, chains, facilitatorUrl, onOutcome }: PairsToRun): Promise<void> => {
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
  const running = startProgram(scenes)
  try {
    for (const { pair, parties } of prepared) {
      const bought = await running.readNext()
      onOutcome(pair, bought === null ? running.describeEnd() : await judge(pair, parties, bought))
    }
  } finally {
    await running.stop()
  }
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

const startProgram = (scenes: readonly object[]) => {
  const child = spawnChild([process.execPath, program], {
    // Without the variables of the test runner: programs have the environment of a production server.
    env: { PATH: process.env.PATH, HOME: process.env.HOME, NODE_ENV: 'production' },
  })
  const ended = once(child, 'close')
  let hasEnded = false
  void ended.then(() => {
    hasEnded = true
  })
  const lines: string[] = []
  let errors = ''
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line.startsWith('bought ')) lines.push(line.slice('bought '.length))
  })
  child.stderr.on('data', (chunk: Buffer) => {
    errors = `${errors}${chunk.toString()}`.slice(-2_000)
  })
  child.stdin.end(JSON.stringify(scenes))
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL')
    await ended
  }
  return {
    /** Null once the program has ended, or has bought nothing for too long. */
    readNext: async () => {
      const what = { ask: () => lines.length > 0 || hasEnded, what: 'a pair to buy' }
      await pollWithin(deadlineMs, what).catch(stop)
      const line = lines.shift()
      return line === undefined ? null : z.record(z.string(), purchase).parse(JSON.parse(line))
    },
    describeEnd: () => `the program ended early: ${errors}`,
    stop,
  }
}
