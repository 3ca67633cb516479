import type { Address } from 'viem'
import { type CrashHarness, describeCrashes } from '../../contracts/crashContract.js'
import { randomAddress } from '../../support/evm/authorization.js'
import { type LocalChain, startLocalChain } from '../../support/evm/localChain.js'
import { exactPayment } from '../../support/evm/payment.js'
import { permitPayment, setUsdcAllowance } from '../../support/evm/permit2.js'
import { uptoPayment } from '../../support/evm/upto.js'
import { uptoPayment as uptoPermit2Payment } from '../../support/evm/uptoPermit2.js'
import { deployUptoRouter } from '../../support/evm/uptoRouter.js'
import { createEoa, type EoaWallet } from '../../support/evm/wallets.js'
import { openCrashPoints } from './crashPoints.js'

interface Parties {
  readonly chain: LocalChain
  readonly router: Address
  readonly wallet: EoaWallet
  readonly payTo: Address
}

const amount = 25_000n

/** The body of `/settle` for the amount, by each method. */
const methods: readonly (readonly [string, (parties: Parties) => Promise<unknown>])[] = [
  ['by EIP-3009', ({ chain, wallet, payTo }) => exactPayment({ chain, wallet, payTo, amount })],
  [
    'by Permit2',
    async ({ chain, wallet, payTo }) => {
      await setUsdcAllowance(chain, wallet.address)
      return await permitPayment({ chain, wallet, payTo, amount })
    },
  ],
  [
    'upto by Permit2',
    async ({ chain, router: facilitator, wallet, payTo }) => {
      await setUsdcAllowance(chain, wallet.address)
      const body = await uptoPermit2Payment({ chain, wallet, payTo, facilitator, amount: 1_000_000n })
      return { ...body, settleAmount: String(amount) }
    },
  ],
  [
    'upto by permit',
    async (parties) => ({
      ...(await uptoPayment({ ...parties, maxAmount: 1_000_000n })),
      settleAmount: String(amount),
    }),
  ],
]

const open = async (): Promise<CrashHarness> => {
  const chain = await startLocalChain({ facilitatorCount: 1 })
  const router = await deployUptoRouter(chain)
  return await openCrashPoints(chain, {
    plan: () =>
      Promise.all(
        methods.map(async ([method, createBody]) => {
          const wallet = createEoa()
          await chain.mint(wallet.address, 1_000_000n)
          const payTo = randomAddress()
          const body = await createBody({ chain, router, wallet, payTo })
          return { method, body, payer: wallet.address, amount, countReceived: () => chain.balanceOf(payTo) }
        }),
      ),
  })
}

describeCrashes('EVM', open)
