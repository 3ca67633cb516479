import { type Address, zeroAddress } from 'viem'
import { type CrashHarness, crashPoints, describeCrashes } from '../../../contracts/crashContract.js'
import {
  type CaptureBody,
  callEscrow,
  collectDirectly,
  fundRefunds,
  type Hold,
  planHold,
  readHold,
  signCapture,
  signRefund,
  signVoid,
} from '../../../support/evm/holds.js'
import { type LocalChain, startLocalChain } from '../../../support/evm/localChain.js'
import { createEoa, type EoaWallet } from '../../../support/evm/wallets.js'
import { openCrashPoints } from '../crashPoints.js'

const [amount, captured, refunded] = [10_000n, 4_000n, 1_500n] as const
const untouched = { capturable: amount, refundable: 0n }

interface Method {
  readonly method: string
  readonly amount: bigint
  /** What the escrow does before the service starts: what is captured, refunded or voided has to be held. */
  prepare(chain: LocalChain, hold: Hold): Promise<void>
  sign(hold: Hold, chainId: number): Promise<CaptureBody>
  countReceived(chain: LocalChain, hold: Hold): Promise<bigint>
}

const methods: readonly Method[] = [
  {
    method: 'of a hold',
    amount,
    prepare: async () => {},
    sign: async ({ body }) => body,
    countReceived: async (chain, hold) => (await readHold(chain, hold)).capturableAmount,
  },
  {
    method: 'of a capture',
    amount: captured,
    prepare: collectDirectly,
    sign: (hold, chainId) => signCapture(hold, untouched, { chainId, amount: captured }),
    countReceived: (chain, { payTo }) => chain.balanceOf(payTo),
  },
  {
    method: 'of a void',
    amount,
    prepare: collectDirectly,
    sign: (hold, chainId) => signVoid(hold, { chainId }),
    countReceived: (chain, { payer }) => chain.balanceOf(payer),
  },
  {
    method: 'of a refund',
    amount: refunded,
    prepare: async (chain, hold) => {
      await collectDirectly(chain, hold)
      await callEscrow(chain, hold, { functionName: 'capture', args: [captured, 0n, zeroAddress] })
    },
    sign: (hold, chainId) => {
      const balances = { capturable: amount - captured, refundable: captured }
      return signRefund(hold, balances, { chainId, amount: refunded })
    },
    countReceived: (chain, { payer }) => chain.balanceOf(payer),
  },
]

interface Prepared {
  readonly method: Method
  readonly hold: Hold
}

const prepareAll = (
  chain: LocalChain,
  operator: Address,
  refundedTo: EoaWallet,
): Promise<readonly Prepared[]> =>
  Promise.all(
    methods.map(async (method) => {
      // The receiver whose refunds the operator pays signs by itself.
      const authorizer = method.method === 'of a refund' ? refundedTo : createEoa()
      const payTo = authorizer.address
      const hold = await planHold(chain, operator, {
        amount,
        payTo,
        authorizer,
        requirements: { maxTimeoutSeconds: 3_000 },
      })
      await method.prepare(chain, hold)
      return { method, hold }
    }),
  )

const open = async (): Promise<CrashHarness> => {
  const chain = await startLocalChain({ facilitatorCount: 1, hasAuthCapture: true })
  const [operator] = chain.facilitators
  if (operator === undefined) throw new Error('The chain has no facilitator')
  const refundedTo = createEoa()
  await fundRefunds(chain, operator.address, refunded * BigInt(crashPoints.length))
  const prepared: (readonly Prepared[])[] = []
  for (const _ of crashPoints) prepared.push(await prepareAll(chain, operator.address, refundedTo))
  return await openCrashPoints(chain, {
    environment: { EVM_REFUND_RECEIVERS: refundedTo.address },
    plan: () =>
      Promise.all(
        (prepared.pop() ?? []).map(async ({ method, hold }) => ({
          method: method.method,
          body: await method.sign(hold, chain.chainId),
          payer: hold.payer,
          amount: method.amount,
          countReceived: () => method.countReceived(chain, hold),
        })),
      ),
  })
}

describeCrashes('EVM by auth-capture', open)
