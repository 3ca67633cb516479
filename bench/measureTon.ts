import { join } from 'node:path'
import { reservePort } from '../test/support/reservePort.js'
import {
  clientPaidPayment,
  sponsoredPayment,
  type TonPaymentBody,
  type TonPaymentOptions,
} from '../test/support/ton/payment.js'
import { fundRelayWallets, tonEnvironment } from '../test/support/ton/relayWallets.js'
import { startTonChain, type TonChain } from '../test/support/ton/tonChain.js'
import { randomAddress } from '../test/support/ton/wallets.js'
import { type Contender, launch, root } from './launch.js'
import { makeFolder } from './makeFolder.js'
import { measureLoad } from './measureLoad.js'
import type { Scale } from './options.js'
import { figure, printTable, type Table, toColumns } from './table.js'
import { noFailures, type Verdict } from './verdict.js'

interface Form {
  readonly name: string
  sign(options: TonPaymentOptions): Promise<TonPaymentBody>
}

const forms: readonly Form[] = [
  { name: 'relayed', sign: sponsoredPayment },
  { name: 'by payer', sign: clientPaidPayment },
]
const settleRows = [
  { connections: 1, count: 20 },
  { connections: 64, count: 192 },
] as const
const verifyRows = [
  { connections: 1, count: 300 },
  { connections: 32, count: 1_500 },
] as const
const rowMs = 15_000
const caption = [
  'The chain runs in the process of the bench, accepts every message at once and shares the CPUs: these figures include',
  'its virtual machine. A public network adds block times: about 5 s for each of 3 to 4 hops.',
].join('\n')

/** Compares the responses of a TON network in this process with its balances. */
export const measureTon = async (scale: Scale): Promise<readonly Verdict[]> => {
  const chain = await startTonChain()
  await fundRelayWallets(chain, 2)
  const { contender, close } = await startOnTon(chain)
  try {
    const table = printTable('TON', caption, [
      ...toColumns('asked', 'form', 'connections', 'success', 'per second', 'p50 ms', 'p99 ms', 'CPU ms/req'),
    ])
    const bench = { chain, contender, table, scale }
    const verdicts: Verdict[] = []
    for (const form of forms) {
      for (const row of verifyRows) verdicts.push(await measureVerify(bench, form, row))
      for (const row of settleRows) verdicts.push(await measureSettle(bench, form, row))
    }
    return verdicts
  } finally {
    await close()
    await chain.stop()
  }
}

interface Bench {
  readonly chain: TonChain
  readonly contender: Contender
  readonly table: Table
  readonly scale: Scale
}

interface Row {
  readonly connections: number
  readonly count: number
}

const countScaled = ({ connections, count }: Row, scale: Scale): number =>
  Math.max(connections, Math.ceil(count * scale))

const plan = async ({ chain }: Bench, { sign }: Form, count: number) => {
  const plans: { readonly body: string; readonly payTo: ReturnType<typeof randomAddress> }[] = []
  for (let index = 0; index < count; index++) {
    const wallet = await chain.createPayer()
    const payTo = randomAddress()
    plans.push({
      payTo,
      body: JSON.stringify(await sign({ chain, wallet, payTo, maxTimeoutSeconds: 300 })),
    })
  }
  return plans
}

const measureVerify = async (bench: Bench, form: Form, row: Row): Promise<Verdict> => {
  const count = countScaled(row, bench.scale)
  const plans = await plan(bench, form, Math.min(count, 50))
  const bodies = Array.from({ length: count }, (_, index) => plans[index % plans.length]?.body ?? '')
  return await measure(bench, { form, row, path: '/verify', bodies })
}

const measureSettle = async (bench: Bench, form: Form, row: Row): Promise<Verdict> => {
  const plans = await plan(bench, form, countScaled(row, bench.scale))
  const bodies = plans.map(({ body }) => body)
  const verdict = await measure(bench, { form, row, path: '/settle', bodies })
  await bench.chain.ledger.settle()
  const received = await Promise.all(plans.map(({ payTo }) => bench.chain.token.balanceOf(payTo)))
  const unpaid = received.filter((amount) => amount !== 1_000_000n).length
  return unpaid === 0 ? verdict : { text: `${verdict.text}; ${unpaid} were not credited`, isMet: false }
}

const measure = async (
  { contender, table }: Bench,
  asked: {
    readonly form: Form
    readonly row: Row
    readonly path: '/verify' | '/settle'
    readonly bodies: readonly string[]
  },
): Promise<Verdict> => {
  const { form, row, path, bodies } = asked
  const { connections } = row
  const result = await measureLoad(contender, { path, bodies, connections, limitMs: rowMs })
  table.row(
    ...[path, form.name, String(connections), `${figure((100 * result.successes) / result.sent)} %`],
    ...[figure(result.perSecond), figure(result.p50Ms), figure(result.p99Ms), figure(result.cpuMsPerRequest)],
  )
  return noFailures(`TON ${path} ${form.name} at ${connections}`, result)
}

const startOnTon = async (chain: TonChain) => {
  const port = await reservePort()
  const folder = await makeFolder()
  const contender = await launch({
    name: 'quittance',
    port,
    args: ['--max-semi-space-size=32', join(root, 'dist/main.js')],
    readyPath: '/ready',
    environment: {
      PORT: String(port),
      HOST: '127.0.0.1',
      LOG_LEVEL: 'error',
      DATA_FOLDER: folder.path,
      RATE_LIMITS: 'off',
      ...tonEnvironment(chain),
      TON_RELAY_WALLETS: '2',
    },
  })
  const close = async () => {
    await contender.stop()
    await folder.remove()
  }
  return { contender, close }
}
