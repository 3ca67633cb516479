import { type Exchange, readAnswer, type Send } from './exchange.js'
import { type Json, readObject, readText } from './json.js'
import { type Requirements, resource } from './payment.js'
import { refuseMainnet, type Signer } from './signer.js'
import { WalkError, writeTypedData } from './typedData.js'

/** What is known before the 402 is written. */
export interface Drafted {
  readonly exchanges: readonly Exchange[]
  /** Requirements that `/accepts` completes; null: the exchanges say why there are none. */
  readonly draft: Json | null
  /** Of the sandbox: what its payer sends. */
  readonly paymentPayload: Json | null
  /** Of the sandbox: where another payment of the same payer comes from. */
  readonly paymentPath: string | null
  /** Of a scripted payer, whose clock can be moved. */
  readonly scenarioId: string | null
}

/** Who pays what. The steps are the same for all. */
export interface Plan {
  readonly id: string
  readonly title: string
  readonly signing: string
  /** Seconds that show the next act of a script; null: it has none. */
  readonly advanceSeconds: number | null
  draft(send: Send): Promise<Drafted>
  /** The payload that the client sends. */
  sign(requirements: Requirements, drafted: Drafted): Promise<Json>
}

export interface ScenarioScript {
  readonly title: string
  readonly script: Json
  readonly advanceSeconds: number | null
}

export const scenarios: readonly ScenarioScript[] = [
  {
    title: 'Verifies, then fails to settle',
    script: { settle: { failsFor: 'insufficient_funds' } },
    advanceSeconds: null,
  },
  {
    title: 'Pending for 45 s, then confirmed',
    script: { settle: { pendingSeconds: 45 } },
    advanceSeconds: 46,
  },
  {
    title: 'Pending for 45 s, then failed',
    script: { settle: { pendingSeconds: 45, failsFor: 'token_paused' } },
    advanceSeconds: 46,
  },
  {
    title: 'Its block is orphaned, another confirms',
    script: { reorg: { afterBlocks: 2 } },
    advanceSeconds: 5,
  },
  {
    title: 'Lost in a reorg',
    script: { reorg: { afterBlocks: 2, failsFor: 'insufficient_funds' } },
    advanceSeconds: 5,
  },
  { title: 'Refused', script: { verify: { refusedFor: 'insufficient_funds' } }, advanceSeconds: null },
]

const unsigned =
  'Nobody has a key of this payer: the sandbox writes the payment itself, and checks neither signature nor balance.'

export const planFixedPayer = (name: string, network: string): Plan => {
  const paymentPath = writePaymentPath(name, network)
  return {
    id: paymentPath,
    title: name,
    signing: unsigned,
    advanceSeconds: null,
    draft: async (send) => {
      const exchange = await send({ method: 'GET', path: paymentPath })
      return readDrafted([exchange], readAnswer(exchange), { paymentPath, scenarioId: null })
    },
    sign: takePrepared,
  }
}

export const planScenario = ({ title, script, advanceSeconds }: ScenarioScript, network: string): Plan => ({
  id: `${title} ${network}`,
  title,
  signing: unsigned,
  advanceSeconds,
  draft: async (send) => {
    const exchange = await send({ method: 'POST', path: '/sandbox/scenarios', body: { network, ...script } })
    const answer = readAnswer(exchange)
    return readDrafted([exchange], readObject(answer, 'request'), {
      paymentPath: writePaymentPath(readText(answer, 'payer') ?? '', network),
      scenarioId: readText(answer, 'id'),
    })
  },
  sign: takePrepared,
})

const writePaymentPath = (payer: string, network: string): string =>
  `/sandbox/payments/${encodeURIComponent(payer)}?network=${encodeURIComponent(network)}`

const readDrafted = (
  exchanges: readonly Exchange[],
  request: Json | null,
  rest: Pick<Drafted, 'paymentPath' | 'scenarioId'>,
): Drafted => ({
  exchanges,
  draft: readObject(request, 'paymentRequirements'),
  paymentPayload: readObject(request, 'paymentPayload'),
  ...rest,
})

const takePrepared: Plan['sign'] = async (_requirements, { paymentPayload }) => {
  if (paymentPayload === null) throw new WalkError('The sandbox wrote no payment')
  return paymentPayload
}

export interface WalletPayment {
  readonly signer: Signer
  readonly network: string
  readonly isTestnet: boolean
  readonly asset: string
  readonly payTo: string
  /** In smallest units. */
  readonly amount: string
}

const maxTimeoutSeconds = 300

export const planWallet = ({ signer, network, isTestnet, asset, payTo, amount }: WalletPayment): Plan => ({
  id: [signer.kind, signer.address, network, asset, payTo, amount].join(' '),
  title: signer.kind === 'wallet' ? 'Your wallet' : 'A throw-away key',
  signing:
    signer.kind === 'wallet'
      ? 'Your wallet shows what it signs: a transfer by EIP-3009, for this recipient and this amount. It costs no gas.'
      : 'The throw-away key signs a transfer by EIP-3009, for this recipient and this amount, in this page.',
  advanceSeconds: null,
  draft: async () => ({
    exchanges: [],
    draft: { scheme: 'exact', network, amount, asset, payTo, maxTimeoutSeconds },
    paymentPayload: null,
    paymentPath: null,
    scenarioId: null,
  }),
  sign: async (requirements) => {
    refuseMainnet(requirements.network, isTestnet && requirements.network === network)
    const isEntered = requirements.amount === amount && isSame(requirements.payTo, payTo)
    if (!isEntered || !isSame(requirements.asset, asset)) {
      throw new WalkError('The requirements name another amount, recipient or token than was entered')
    }
    const typedData = writeTypedData(requirements, signer.address)
    const signature = await signer.sign(typedData)
    return {
      x402Version: 2,
      resource,
      accepted: requirements,
      payload: { signature, authorization: typedData.message },
    }
  },
})

const isSame = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase()
