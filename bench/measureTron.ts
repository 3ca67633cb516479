import { createTronKey } from '../test/support/tron/keys.js'
import { tronPayment } from '../test/support/tron/payment.js'
import { startTronChain, type TronChain } from '../test/support/tron/tronChain.js'
import { startService } from './contenders.js'
import { countFailureReasons } from './countFailureReasons.js'
import { type Measurement, measureLoad } from './measureLoad.js'
import type { Scale } from './options.js'
import { figure, printTable, toColumns } from './table.js'
import { noFailures, type Verdict } from './verdict.js'

const verifyMs = 5_000
const verifyBodies = 200
const verifyConnections = [1, 16]
const settleRows = [
  { connections: 1, count: 4 },
  { connections: 32, count: 128 },
]
const settleMs = 30_000
const amount = 10_000n

// As on TRON mainnet.
const blockTimeMs = 3_000

/** Compares the responses with the balances of a local TRON chain. */
export const measureTron = async (scale: Scale): Promise<readonly Verdict[]> => {
  const chain = await startTronChain({ blockTimeMs })
  const token = await chain.deploy('TetherTrc20')
  const ours = await startService({ TRON_RPC_URL_nile: chain.url, TRON_TOKENS_nile: token })
  const payTo = createTronKey().address
  const sign = (count: number) => signPayments(chain, { token, payTo, count })
  const verdicts: Verdict[] = []
  try {
    const verify = printTable(
      'TRON, verify',
      'Six RPC calls per payment; the node and its virtual machine share one process, which is the bottleneck.',
      toColumns('connections', 'verified/s', 'p50 ms', 'p99 ms', 'CPU ms/req', 'sent'),
    )
    for (const connections of verifyConnections) {
      const bodies = await sign(verifyBodies)
      const limitMs = verifyMs * scale
      const load = await measureLoad(ours, { path: '/verify', bodies, connections, limitMs })
      verify.row(...toCells(connections, load))
      verdicts.push(noFailures(`TRON, verify over ${connections}`, load))
    }

    const settle = printTable(
      'TRON, settle',
      'Blocks of three seconds, as on TRON mainnet: a payment waits for the next block and our next poll.',
      toColumns('connections', 'settled/s', 'p50 ms', 'p99 ms', 'CPU ms/req', 'sent'),
    )
    for (const { connections, count } of settleRows) {
      const bodies = await sign(Math.ceil(count * scale))
      const before = await chain.balanceOf(token, payTo)
      const load = await measureLoad(ours, { path: '/settle', bodies, connections, limitMs: settleMs })
      settle.row(...toCells(connections, load))
      const paid = ((await chain.balanceOf(token, payTo)) - before) / amount
      const isTrue = paid === BigInt(load.sent - load.failures)
      const mismatch = `${load.sent - load.failures} reported, ${paid} paid`
      verdicts.push(
        noFailures(`TRON, settle over ${connections}`, load, [
          ...countFailureReasons(load.exchanges),
          ...(isTrue ? [] : [mismatch]),
        ]),
      )
    }
    return verdicts
  } finally {
    await ours.stop()
    await chain.stop()
  }
}

const toCells = (connections: number, load: Measurement): readonly string[] => [
  String(connections),
  ...[load.perSecond, load.p50Ms, load.p99Ms, load.cpuMsPerRequest].map(figure),
  String(load.sent),
]

/** Each payer can fund one payment. Signed just before use: a transaction expires after a minute. */
const signPayments = async (
  chain: TronChain,
  { token, payTo, count }: { readonly token: string; readonly payTo: string; readonly count: number },
): Promise<readonly string[]> => {
  const bodies: string[] = []
  for (let index = 0; index < count; index++) {
    const payer = createTronKey()
    chain.fund(payer.address, 100_000_000)
    await chain.mint(token, payer.address, amount)
    bodies.push(JSON.stringify(await tronPayment({ chain, payer, payTo, token, amount })))
  }
  return bodies
}
