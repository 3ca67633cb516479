import type { Address } from 'viem'
import { locateUptoRouter } from '../src/chains/evm/contracts/routers.js'
import { randomAddress } from '../test/support/evm/authorization.js'
import type { LocalChain } from '../test/support/evm/localChain.js'
import { setUsdcAllowance } from '../test/support/evm/permit2.js'
import { uptoPayment } from '../test/support/evm/upto.js'
import { uptoPayment as uptoPermit2Payment } from '../test/support/evm/uptoPermit2.js'
import type { PayerWallet } from '../test/support/evm/wallets.js'
import type { Contender } from './launch.js'
import { type Measurement, measureLoad } from './measureLoad.js'
import type { Scale } from './options.js'
import { readGasUse } from './readGasUse.js'
import { amount, createPayers } from './signPayments.js'
import { withStage } from './stage.js'
import { facilitatorColumn, figure, printTable, times, toColumns } from './table.js'
import { noFailures, type Verdict } from './verdict.js'

interface Form {
  readonly name: string
  readonly contender: Contender
  /** The body of `/verify`; with `settleAmount`, of `/settle`. */
  sign(wallet: PayerWallet, payTo: Address): Promise<object>
}

const connectionCounts = [1, 16, 50] as const
const requestsPerRow = { 1: 60, 16: 600, 50: 1_000 } as const
const slowRequestsPerRow = { 1: 8, 16: 60, 50: 100 } as const
// What is compiled for the first requests is not measured.
const warmUps = { ours: 400, reference: 40 } as const
const limitMs = 20_000
const maximum = amount * 10n

/** `/verify` and `/settle` of `upto`, by Permit2 beside the reference, and by permit, which the reference does not have. */
export const measureUpto = async (scale: Scale): Promise<readonly Verdict[]> => {
  const verdicts: Verdict[] = []
  await withStage({ hasRouter: true }, async ({ chain, ours, reference }) => {
    const [first, second] = chain.facilitators
    if (first === undefined || second === undefined) throw new Error('keys are missing')
    const router = locateUptoRouter([first.address]).address
    const forms: readonly Form[] = [
      byPermit2(chain, { name: 'Permit2', contender: ours, facilitator: router }),
      byPermit2(chain, { name: 'Permit2', contender: reference, facilitator: second.address }),
      {
        name: 'permit',
        contender: ours,
        sign: (wallet, payTo) => uptoPayment({ chain, wallet, router, payTo, maxAmount: maximum }),
      },
    ]
    const table = printTable(
      'upto',
      'Each payment by a payer of its own, a tenth of the maximum is charged; gas of a payment, and in the largest batch.',
      [
        ...toColumns('connections', 'form'),
        facilitatorColumn,
        ...toColumns('verified/s', 'p50 ms', 'settled/s', 'p50 ms', 'success', 'gas', 'in a batch'),
      ],
    )
    for (const form of forms) {
      const count = form.contender === reference ? warmUps.reference : warmUps.ours
      await run(chain, form, { connections: 16, count })
    }
    for (const connections of connectionCounts) {
      const rows = new Map<Form, Row>()
      for (const form of forms) {
        const counts = form.contender === reference ? slowRequestsPerRow : requestsPerRow
        const count = Math.max(connections, Math.ceil(counts[connections] * scale))
        const row = await run(chain, form, { connections, count })
        rows.set(form, row)
        const { verified, settled, gas } = row
        table.row(
          ...[String(connections), form.name, form.contender.name],
          ...[figure(verified.perSecond), figure(verified.p50Ms)],
          ...[figure(settled.perSecond), figure(settled.p50Ms)],
          `${figure((100 * settled.successes) / settled.sent)} %`,
          ...[figure(gas.gasPerPayment), `${figure(gas.largest.gasPerPayment)} × ${gas.largest.payments}`],
        )
        if (form.contender !== ours) continue
        const name = `upto by ${form.name} at ${connections} connections`
        verdicts.push(
          noFailures(`verify, ${name}`, verified),
          noFailures(`settle, ${name}`, settled, row.mismatches),
        )
      }
      const [us, them] = [...rows.values()]
      if (us === undefined || them === undefined) continue
      table.row(
        ...[String(connections), 'Permit2', 'ratio'],
        ...[
          times(us.verified.perSecond, them.verified.perSecond),
          times(us.verified.p50Ms, them.verified.p50Ms),
        ],
        ...[times(us.settled.perSecond, them.settled.perSecond), times(us.settled.p50Ms, them.settled.p50Ms)],
        ...['', times(us.gas.gasPerPayment, them.gas.gasPerPayment)],
      )
    }
  })
  return verdicts
}

const byPermit2 = (
  chain: LocalChain,
  { facilitator, ...form }: Pick<Form, 'name' | 'contender'> & { readonly facilitator: Address },
): Form => ({
  ...form,
  sign: async (wallet, payTo) => {
    await setUsdcAllowance(chain, wallet.address)
    return await uptoPermit2Payment({ chain, wallet, facilitator, payTo, amount: maximum })
  },
})

interface Row {
  readonly verified: Measurement
  readonly settled: Measurement
  readonly gas: Awaited<ReturnType<typeof readGasUse>>
  readonly mismatches: readonly string[]
}

/** The same payments are verified, then settled. */
const run = async (
  chain: LocalChain,
  { contender, sign }: Form,
  { connections, count }: { readonly connections: number; readonly count: number },
): Promise<Row> => {
  const payTo = randomAddress()
  // The first transfer to an account costs more gas.
  await chain.mint(payTo, 1n)
  const payers = await createPayers(chain, count)
  const bodies = await Promise.all(payers.map((payer) => sign(payer, payTo)))
  const verified = await measureLoad(contender, {
    path: '/verify',
    bodies: bodies.map((body) => JSON.stringify(body)),
    connections,
    limitMs,
  })
  const settled = await measureLoad(contender, {
    path: '/settle',
    bodies: bodies.map((body) => JSON.stringify(chargeOf(body, contender.name))),
    connections,
    limitMs,
  })
  const received = (await chain.balanceOf(payTo)) - 1n
  const expected = amount * BigInt(settled.successes)
  const mismatches =
    received === expected ? [] : [`${expected} were reported as settled, ${received} arrived`]
  return { verified, settled, mismatches, gas: await readGasUse(chain, settled.exchanges) }
}

/** The reference takes the charge in the place of the maximum. */
const chargeOf = (body: object, facilitator: string): object => {
  const settleAmount = String(amount)
  if (facilitator !== 'reference') return { ...body, settleAmount }
  const requirements = 'paymentRequirements' in body ? body.paymentRequirements : {}
  return { ...body, paymentRequirements: { ...Object(requirements), amount: settleAmount } }
}
