import type { Address } from 'viem'
import { type CrashHarness, describeCrashes, holdAt } from '../../contracts/crashContract.js'
import { randomAddress } from '../../support/evm/authorization.js'
import { type LocalChain, startLocalChain } from '../../support/evm/localChain.js'
import { exactPayment } from '../../support/evm/payment.js'
import { permitPayment, setUsdcAllowance } from '../../support/evm/permit2.js'
import { uptoPayment } from '../../support/evm/upto.js'
import { uptoPayment as uptoPermit2Payment } from '../../support/evm/uptoPermit2.js'
import { deployUptoRouter } from '../../support/evm/uptoRouter.js'
import { createEoa, type EoaWallet } from '../../support/evm/wallets.js'
import { startRpcProxy } from '../../support/rpcProxy.js'

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
  const proxy = await startRpcProxy(chain.url)
  const router = await deployUptoRouter(chain)
  let askedBefore = 0
  /** Transactions whose receipt was asked for. */
  const countAsked = () => {
    const asked = proxy.calls.filter(({ method }) => method === 'eth_getTransactionReceipt')
    return new Set(asked.map(({ params: [hash] }) => hash)).size
  }
  return {
    environment: {
      EVM_PRIVATE_KEY: chain.facilitators.map(({ privateKey }) => privateKey).join(','),
      EVM_RPC_URL_84532: proxy.url,
      EVM_POLL_INTERVAL_MS_84532: '50',
      EVM_RPC_TIMEOUT_MS: '60000',
    },
    holds: {
      'before anything is recorded': holdAt(proxy, 'eth_estimateGas'),
      'between recording and sending': holdAt(proxy, 'eth_sendRawTransaction'),
      'between sending and the proof': {
        // Not mined, as the service sees it: one that hangs would keep it from asking for the next one.
        hold: () => {
          askedBefore = countAsked()
          proxy.setFault('eth_getTransactionReceipt', { kind: 'tamper', change: () => null })
        },
        isThere: () => countAsked() > askedBefore,
      },
    },
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
    release: () => {
      proxy.clearFaults()
      proxy.clearCalls()
    },
    close: async () => {
      await proxy.stop()
      await chain.stop()
    },
  }
}

describeCrashes('EVM', open)
